"""The doors: each turns a call from outside into one Keeper call."""
