"""The doors: each turns a call from outside into one Keeper call; what they set in motion is in the folders beneath."""
