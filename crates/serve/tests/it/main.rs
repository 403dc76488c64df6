//! Tests of the MCP server against the official conformance suite.

mod conformance;
mod fixture;
mod fixture_tools;
