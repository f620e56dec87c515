"""The style and the script of the report's page, as they are written into it."""
