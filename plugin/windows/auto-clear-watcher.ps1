<#
.SYNOPSIS
Types /clear into the window of Claude Code when Memory Keeper asks for it.

.DESCRIPTION
`memory-keeper watch --via signal` leaves a file when a session is to be cleared; this script looks for it every two
seconds, takes it away, brings the window of Claude Code to the front, and types the constant /clear and Enter.

Prefer anything else where you can: the plugin clears by itself in Claude Code 2.1.286 and newer, and tmux, GNU screen
and `memory-keeper run` look at the screen first. This script cannot:
  - it does not see a half-typed prompt (/clear is appended to it and both are sent), an open question or a running turn;
  - it does not know which window belongs to which session: it acts only when exactly one window can be meant;
  - a terminal with several tabs gets the keys in the tab that is in front.

.PARAMETER Signal
The file to look for. For Memory Keeper inside WSL: \\wsl.localhost\<distribution>\home\<user>\.claude\clear-signal
#>
param([string]$Signal = (Join-Path $HOME '.claude\clear-signal'))

$ErrorActionPreference = 'Stop'
$Fresh = 60      # seconds: an older request is not for now
$Terminals = 'WindowsTerminal', 'OpenConsole', 'conhost', 'cmd', 'powershell', 'pwsh', 'alacritty', 'wezterm-gui', 'ConEmu64', 'mintty', 'claude'
$Idle = [string][char]0x2733  # the title of an idle session begins with it; one that works shows something that turns

Add-Type -AssemblyName System.Windows.Forms
Add-Type -Namespace MemoryKeeper -Name User32 -MemberDefinition @'
[DllImport("user32.dll")] public static extern bool SetForegroundWindow(IntPtr window);
[DllImport("user32.dll")] public static extern IntPtr GetForegroundWindow();
'@

function Find-Window {
    @(Get-Process | Where-Object {
        $_.MainWindowHandle -ne [IntPtr]::Zero -and $Terminals -contains $_.ProcessName -and
        ($_.MainWindowTitle.StartsWith($Idle) -or $_.MainWindowTitle -like 'Claude Code*')
    })
}

function Read-Request([string]$Path) {
    # $null: whatever it is, it is not ours to act on or to take away
    $file = Get-Item -LiteralPath $Path -Force
    if (($file.Attributes -band [IO.FileAttributes]::ReparsePoint) -or $file.Length -gt 4096) { return $null }
    try { $asked = Get-Content -LiteralPath $Path -Raw | ConvertFrom-Json } catch { return $null }
    if ($asked.session -and $asked.at -is [ValueType]) { return $asked }
    return $null
}

function Test-Age($Asked) {
    $age = [DateTimeOffset]::UtcNow.ToUnixTimeSeconds() - [double]$Asked.at
    if ($age -lt -5 -or $age -gt $Fresh) { return "it was asked $([int]$age) seconds ago" }
    return ''
}

function Send-Clear {
    $windows = Find-Window
    if ($windows.Count -ne 1) { return "$($windows.Count) windows look like an idle Claude Code; exactly one is needed" }
    $window = $windows[0].MainWindowHandle
    [void][MemoryKeeper.User32]::SetForegroundWindow($window)
    # looked at before each key: whoever changes the window meanwhile gets none
    foreach ($keys in '/clear', '{ENTER}') {
        Start-Sleep -Milliseconds 300
        if ([MemoryKeeper.User32]::GetForegroundWindow() -ne $window) { return 'another window came to the front' }
        [System.Windows.Forms.SendKeys]::SendWait($keys)
    }
    return ''
}

Write-Host "Watching $Signal (Ctrl-C ends it)"
while ($true) {
    $asked = if (Test-Path -LiteralPath $Signal -PathType Leaf) { Read-Request $Signal } else { $null }
    if ($asked) {
        # taken away first: a request is acted on once, and given again if it is still wanted
        Remove-Item -LiteralPath $Signal -Force
        try {
            $why = Test-Age $asked
            if (-not $why) { $why = Send-Clear }
        }
        catch { $why = $_.Exception.Message }
        $said = if ($why) { "not cleared: $why" } else { 'cleared' }
        Write-Host "$(Get-Date -Format 'HH:mm:ss')  $said"
    }
    Start-Sleep -Seconds 2
}
