"""Commands that the laboratory adds to `flashtwin`, by entry points `flashtwin.commands`."""
