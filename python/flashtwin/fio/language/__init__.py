"""The language of fio job files: text and command lines to typed jobs, and typed jobs to text."""
