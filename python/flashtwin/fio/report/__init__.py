"""What fio prints and logs, out of what the core counted: text, terse lines, logs, iologs."""
