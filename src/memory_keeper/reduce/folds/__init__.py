"""What became of things, over many events and notes: made anew whenever it is asked for, and stored nowhere."""
