@echo off
rem Starts the script beside this file; what is typed after its name goes on to it.
title Memory Keeper: auto clear
powershell.exe -NoProfile -ExecutionPolicy Bypass -File "%~dp0auto-clear-watcher.ps1" %*
