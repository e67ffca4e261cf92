"""Claude Code itself, as far as we touch it: its settings, our place among its plugins, who runs in its shell."""
