"""The files in a project that people read and edit: rendered from notes, and their edits made into notes."""
