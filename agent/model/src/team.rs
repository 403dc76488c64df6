//! The models of a session: which one is asked, and which one instead if that fails.

use std::collections::BTreeMap;

use deskhand_machine::model::{ModelFailure, ModelFailureKind, ModelReply, ModelRequest};

use crate::port::{AnyModel, Model, ModelSigns, PictureSource};

/// Maximum number of requests per question to a model that has a backup.
const ATTEMPTS_WITH_BACKUP: u32 = 2;

/// The models of a session, by name.
#[derive(Debug)]
pub struct ModelTeam {
    members: BTreeMap<String, AnyModel>,
    /// The name of the model that is asked where a request names none.
    usual: String,
    name: String,
}

impl ModelTeam {
    /// Models by name; `usual` is asked where a request names none. `None` if no model has that name.
    pub fn new(usual: &str, members: BTreeMap<String, AnyModel>) -> Option<Self> {
        let first = members.get(usual)?.name();
        let name = match members.len() - 1 {
            0 => first.to_owned(),
            1 => format!("{first}, and one more model"),
            more => format!("{first}, and {more} more models"),
        };
        Some(Self { usual: usual.to_owned(), name, members })
    }

    /// The models with their names.
    pub fn members(&self) -> impl Iterator<Item = (&str, &AnyModel)> {
        self.members.iter().map(|(name, model)| (name.as_str(), model))
    }

    /// The name of the model that is asked where a request names none.
    pub fn usual(&self) -> &str {
        &self.usual
    }

    /// The models to ask, in order, with their names. Endpoints that keep failing are left out while they rest, unless all do.
    fn chain(&self, request: &ModelRequest) -> Vec<(&str, &AnyModel)> {
        let named = request.models.iter().filter_map(|name| self.members.get_key_value(name));
        let mut chain: Vec<_> = named.map(|(name, model)| (name.as_str(), model)).collect();
        if chain.is_empty() {
            let usual = self.members.get_key_value(&self.usual);
            chain.extend(usual.map(|(name, model)| (name.as_str(), model)));
        }
        let awake: Vec<_> = chain.iter().copied().filter(|(_, model)| model.rests().is_none()).collect();
        if awake.is_empty() { chain } else { awake }
    }
}

impl Model for ModelTeam {
    async fn ask(
        &self,
        request: &ModelRequest,
        pictures: &dyn PictureSource,
        signs: &dyn ModelSigns,
    ) -> Result<ModelReply, ModelFailure> {
        let chain = self.chain(request);
        let by = |name: &str| Some(name.to_owned()).filter(|_| !request.models.is_empty());
        let mut failed: Vec<ModelFailure> = Vec::new();
        let last = chain.len().saturating_sub(1);
        for (place, (name, model)) in chain.into_iter().enumerate() {
            let used = failed.iter().fold(0_u32, |sum, one| sum.saturating_add(one.attempts));
            let left = request.attempts_max.saturating_sub(used);
            if left == 0 {
                break;
            }
            let request = ModelRequest { attempts_max: left, ..request.clone() };
            let asked = match model {
                AnyModel::Endpoint(endpoint) if place < last => {
                    endpoint.ask_within(&request, pictures, signs, ATTEMPTS_WITH_BACKUP).await
                }
                AnyModel::Endpoint(_) | AnyModel::Script(_) | AnyModel::Relay(_) => {
                    model.ask(&request, pictures, signs).await
                }
            };
            match asked {
                Ok(reply) => return Ok(ModelReply { by: by(name), failed, ..reply }),
                Err(failure) => {
                    if place < last {
                        tracing::warn!(model = name, message = failure.message, "asking the next model");
                    }
                    failed.push(ModelFailure { by: by(name).map(String::into_boxed_str), ..failure });
                }
            }
        }
        Err(all_failed(failed))
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// The failure of all models that were asked: the last one, with the others before it.
fn all_failed(mut failed: Vec<ModelFailure>) -> ModelFailure {
    let Some(last) = failed.pop() else {
        return ModelFailure::new(ModelFailureKind::Rejected, "no request may be sent");
    };
    let earlier: String = failed.iter().map(|one| format!("; before it, {}", one.message)).collect();
    ModelFailure { message: format!("{}{earlier}", last.message), before: failed.into_boxed_slice(), ..last }
}
