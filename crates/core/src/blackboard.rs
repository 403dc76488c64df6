//! What all agents of a session share: requests, questions and answers, trajectories, pictures.
//!
//! Bounded: old trajectories are dropped and long texts are cut. The journal keeps everything.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{agent::AgentRef, text::clip, ui::PictureRef};

/// The shared memory of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Blackboard {
    requests: VecDeque<String>,
    answers: VecDeque<Answer>,
    trajectories: VecDeque<Trajectory>,
    pictures: VecDeque<SavedPicture>,
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The question, or the context of an instruction.
    pub question: String,
    /// The answer.
    pub answer: String,
}

/// One finished step, as other agents see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// The number of the step in its session.
    pub step: u32,
    /// The agent that took it.
    pub agent: AgentRef,
    /// Its sub-task; empty for the HostAgent.
    pub subtask: String,
    /// Its calls, one per line.
    pub actions: Vec<String>,
    /// Their results, one per line.
    pub results: Vec<String>,
    /// Which of them only read something: their results are what another agent may need.
    #[serde(default)]
    pub reads: Vec<bool>,
    /// The status at the end of the step.
    pub status: String,
}

/// A picture kept by an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPicture {
    /// The picture.
    pub picture: PictureRef,
    /// The application it shows.
    pub application: String,
    /// Why it was kept.
    pub reason: String,
}

impl Blackboard {
    /// The most requests that are kept.
    pub const REQUESTS_MAX: usize = 20;
    /// The most answers that are kept.
    pub const ANSWERS_MAX: usize = 50;
    /// The most steps that are kept.
    pub const TRAJECTORIES_MAX: usize = 30;
    /// The most pictures that are kept.
    pub const PICTURES_MAX: usize = 8;
    /// The longest result line, in characters. Agents pass tables to each other in such lines.
    pub const RESULT_CHARS_MAX: usize = 6_000;

    /// Adds a request of the user.
    pub fn add_request(&mut self, request: &str) {
        push(&mut self.requests, clip(request, Self::RESULT_CHARS_MAX), Self::REQUESTS_MAX);
    }

    /// Adds an answer or instruction of the user.
    pub fn add_answer(&mut self, question: &str, answer: &str) {
        let answer = Answer {
            question: clip(question, Self::RESULT_CHARS_MAX),
            answer: clip(answer, Self::RESULT_CHARS_MAX),
        };
        push(&mut self.answers, answer, Self::ANSWERS_MAX);
    }

    /// Adds a finished step.
    pub fn add_trajectory(&mut self, mut trajectory: Trajectory) {
        for line in trajectory.actions.iter_mut().chain(&mut trajectory.results) {
            *line = clip(line, Self::RESULT_CHARS_MAX);
        }
        push(&mut self.trajectories, trajectory, Self::TRAJECTORIES_MAX);
    }

    /// Adds a picture.
    pub fn add_picture(&mut self, picture: SavedPicture) {
        push(&mut self.pictures, picture, Self::PICTURES_MAX);
    }

    /// Earlier requests of the session, oldest first.
    pub fn requests(&self) -> impl Iterator<Item = &str> {
        self.requests.iter().map(String::as_str)
    }

    /// Questions with their answers, oldest first.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.answers.iter()
    }

    /// The last steps of all agents, oldest first.
    pub fn trajectories(&self) -> impl Iterator<Item = &Trajectory> {
        self.trajectories.iter()
    }

    /// The kept pictures, oldest first.
    pub fn pictures(&self) -> impl Iterator<Item = &SavedPicture> {
        self.pictures.iter()
    }
}

fn push<T>(queue: &mut VecDeque<T>, item: T, limit: usize) {
    while queue.len() >= limit {
        queue.pop_front();
    }
    queue.push_back(item);
}
