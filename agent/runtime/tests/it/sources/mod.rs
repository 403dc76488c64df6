//! Tools of MCP servers and of programs: what agents get of them, and what a server can do to us.

mod programs;
mod servers;
