//! Messages as text for people and as JSON lines for tools.
