//! Tests of the MCP server against the official conformance suite.
#![cfg(test)]

mod conformance;
mod fixture;
mod fixture_tools;
