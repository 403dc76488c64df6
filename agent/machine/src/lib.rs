//! Deskhand's core: it decides, it never does.
//!
//! Two state machines, four phases, blackboard, memory, targets, commands, prompts and reply parsing, as pure
//! data and functions. No async, no IO, no clock, no environment, no randomness: time, ids and everything
//! from outside come in with [`session`] events. A test over `cargo tree` keeps it so.
//!
//! # A session by hand
//!
//! [`Session::next`](session::Session::next) returns the effect that the session wants;
//! [`Session::apply`](session::Session::apply) takes the event that answers it.
//!
//! ```
//! use deskhand_machine::{
//!     model::{ModelReply, Usage},
//!     observation::{DesktopView, Observation},
//!     outcome::OutcomeKind,
//!     prompt::PromptSet,
//!     session::{Effect, EventRecord, Session, SessionConfig, SessionEvent},
//! };
//!
//! let mut session = Session::new(SessionConfig::default(), PromptSet::default());
//! let mut answer = |session: &mut Session, event: SessionEvent| {
//!     let effect = session.next().map(|record| record.id);
//!     session.apply(&EventRecord { effect, at_ms: 0, event })
//! };
//!
//! answer(&mut session, SessionEvent::Requested { text: "What is open?".to_owned(), plan: None })?;
//! assert!(matches!(session.next().unwrap().effect, Effect::Observe { .. }));
//!
//! let observation = Observation::Desktop(DesktopView::default());
//! answer(&mut session, SessionEvent::Observed { observation })?;
//! let Effect::Ask { request } = &session.next().unwrap().effect else { panic!("it asks the model") };
//! assert_eq!(request.agent.to_string(), "HostAgent");
//!
//! let text = r#"{"thought": "no window is open", "status": "FINISH", "result": "nothing"}"#.to_owned();
//! let reply = ModelReply { text, model: "none".to_owned(), attempts: 1, ..ModelReply::default() };
//! answer(&mut session, SessionEvent::replied(reply))?;
//! let Effect::Finish { outcome } = &session.next().unwrap().effect else { panic!("the round ends") };
//! assert_eq!((outcome.kind, outcome.reason.as_str()), (OutcomeKind::Finished, "nothing"));
//! # Ok::<(), deskhand_machine::session::ApplyError>(())
//! ```
//!
//! An event that answers another effect is refused, and the session stays as it was:
//!
//! ```
//! use deskhand_ui::ids::EffectId;
//! use deskhand_machine::{
//!     prompt::PromptSet,
//!     session::{ApplyError, EventRecord, Session, SessionConfig, SessionEvent},
//! };
//!
//! let mut session = Session::new(SessionConfig::default(), PromptSet::default());
//! let late = EventRecord { effect: Some(EffectId(7)), at_ms: 0, event: SessionEvent::acknowledged() };
//! assert!(matches!(session.apply(&late), Err(ApplyError::OtherEffect { .. })));
//! ```
//!
//! # Policies
//!
//! ```
//! use deskhand_machine::{
//!     known_tools,
//!     policy::{Policy, PolicyDecision, PolicyRule, Subject},
//! };
//!
//! let deny = PolicyRule { label: "Send*".to_owned(), ..PolicyRule::new(PolicyDecision::Deny, "mail is sent by hand") };
//! let policy = Policy { rules: vec![deny], ..Policy::default() };
//! let press = |label: &str| Subject {
//!     tool: known_tools::CLICK.to_owned(),
//!     labels: vec![label.to_owned()],
//!     ..Subject::default()
//! };
//! assert_eq!(policy.decide(&press("Send now")).decision, PolicyDecision::Deny);
//! // The safe guard asks before what cannot be undone.
//! assert_eq!(policy.decide(&press("Empty Trash")).decision, PolicyDecision::Ask);
//! assert_eq!(policy.decide(&press("OK")).decision, PolicyDecision::Allow);
//! ```

pub mod agent;
pub mod blackboard;
mod clipping;
pub mod command;
pub mod evaluation;
pub mod intent;
pub mod known_tools;
pub mod memory;
pub mod model;
pub mod money;
pub mod observation;
pub mod operator;
pub mod outcome;
pub mod policy;
pub mod prompt;
pub mod provenance;
pub mod record;
pub mod reference;
pub mod reply;
pub mod retrieval;
pub mod secret;
pub mod session;
mod small;
pub mod states;
pub mod target;
pub mod workflow;
