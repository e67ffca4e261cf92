"""What contexts were spent on: the `growth` between two responses, its `breakdown`, and `compactions`."""
