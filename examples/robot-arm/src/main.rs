//! `robot-arm-agent`: the arm as an MCP server on stdio.

use std::process::ExitCode;

use deskhand_example_robot_arm::server::ArmServer;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let streams = (tokio::io::stdin(), tokio::io::stdout());
    match rmcp::serve_server(ArmServer::default(), streams).await {
        Ok(service) => match service.waiting().await {
            Ok(_) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(_) => ExitCode::FAILURE,
    }
}
