//! Finds the applications of a process, and the frame of an X window among their top-level objects.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, PoisonError},
};

use deskhand_ui::geometry::{Rect, Screen};

use super::{
    accessibility::Accessibility,
    application::{Application, Applications, AtspiFrameCriteria, CoordinateOrigin},
    bus::{ACCESSIBLE, AtspiCallError, Bus, CallResult, REGISTRY, pipelined},
    component::extents,
    events::deliver_roles,
    mirror::WalkSource,
    quirks::AtspiToolkit,
    shift::Scale,
    wire::{ObjectRef, ROOT_PATH},
};
use crate::toolkits::draws_pages;
use deskhand_desktop::DesktopResult;

/// The most applications and top-level objects that are read.
const APPLICATIONS_MAX: usize = 256;
const TOP_LEVELS_MAX: usize = 256;

/// A top-level object that may belong to a window.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AtspiFrameCandidate {
    object: ObjectRef,
    name: String,
    extents: Option<Rect<Screen>>,
}

impl Accessibility {
    /// Updates the list of applications. Only the registry and the bus answer, not the applications.
    pub(crate) async fn refresh_applications(&self) -> DesktopResult<()> {
        let bus = &self.shared.bus;
        let registry = ObjectRef::new(REGISTRY, ROOT_PATH);
        let mut roots = bus
            .children(&registry)
            .await
            .map_err(|error| error.into_desktop("list the applications", "the registry", super::bus::gone))?;
        roots.truncate(APPLICATIONS_MAX);
        let (known, excluded): (HashSet<Arc<str>>, _) = self.with_applications(|all| {
            (all.by_bus.keys().chain(&all.excluded_buses).cloned().collect(), all.excluded.clone())
        });
        let listed: HashSet<Arc<str>> = roots.iter().map(|root| Arc::clone(&root.bus)).collect();
        let fresh: Vec<ObjectRef> = roots.into_iter().filter(|root| !known.contains(&root.bus)).collect();
        let (excluded, origin) = (&excluded, self.shared.origin);
        let found = pipelined(fresh, |root| async move { describe(bus, root, excluded, origin).await }).await;
        let pids = self.with_applications(|all| {
            all.by_bus.retain(|name, _| listed.contains(name));
            all.excluded_buses.retain(|name| listed.contains(name));
            for described in found.into_iter().flatten() {
                match described {
                    AtspiPeer::Application(application) => {
                        all.by_bus.insert(Arc::clone(&application.root.bus), application);
                    }
                    AtspiPeer::Excluded(name) => {
                        all.excluded_buses.insert(name);
                    }
                }
            }
            all.pids()
        });
        *self.shared.accessible_pids.write().unwrap_or_else(PoisonError::into_inner) = pids;
        Ok(())
    }

    /// Excludes programs by their file names: nothing is read of them from now on, and what was read is forgotten.
    pub(crate) async fn exclude(&self, programs: &[String]) -> DesktopResult<()> {
        let forgotten = self.with_applications(|all| {
            all.excluded = programs.iter().map(|program| program.to_lowercase()).collect();
            all.excluded_buses.clear();
            std::mem::take(&mut all.by_bus)
        });
        for bus in forgotten.keys() {
            self.with_ids(|ids| ids.forget_application(bus));
            self.with_mirror(|mirror| mirror.forget(bus));
        }
        self.refresh_applications().await
    }

    /// The applications of a process; updates the list if it has none.
    pub(crate) async fn applications_of(&self, pid: u32) -> DesktopResult<Vec<Application>> {
        let known = self.with_applications(|all| all.of_process(pid));
        if !known.is_empty() {
            return Ok(known);
        }
        self.refresh_applications().await?;
        Ok(self.with_applications(|all| all.of_process(pid)))
    }

    /// The application of an object that was read before.
    pub(crate) fn application_of(&self, object: &ObjectRef) -> Option<Application> {
        self.with_applications(|all| all.of_object(object))
    }

    /// The application and top-level object behind an X window, and whether the application answers; `None` if it
    /// exposes none. What it announced before is in the mirror by then.
    pub(crate) async fn frame_of(
        &self,
        bus: &Bus,
        window: &AtspiFrameCriteria,
        source: WalkSource,
    ) -> DesktopResult<CallResult<Option<(Application, ObjectRef, bool)>>> {
        let Some(pid) = window.pid else { return Ok(Ok(None)) };
        let mut stalled = None;
        for application in self.applications_of(pid).await? {
            let answers = self.catch_up(bus, &application).await?;
            let known = (source == WalkSource::Mirror)
                .then(|| self.with_mirror(|mirror| mirror.find(&application.root.bus)?.frame_of(window)));
            if let Some(frame) = known.flatten() {
                return Ok(Ok(Some((application, frame, answers))));
            }
            if !answers {
                stalled = Some(AtspiCallError::NotAnswering { limit_ms: 0 });
                continue;
            }
            let read_at = self.with_mirror(|mirror| {
                mirror.store(&application.root.bus, application.toolkit.drawn_parts()).now()
            });
            match candidates(bus, &application).await {
                Ok(found) => {
                    if let Some(frame) = best(&found, window, self.shared.origin) {
                        self.with_mirror(|mirror| {
                            if let Some(store) = mirror.find(&application.root.bus) {
                                store.keep_frame(window, &frame, read_at);
                            }
                        });
                        return Ok(Ok(Some((application, frame, true))));
                    }
                }
                Err(AtspiCallError::BusGone) => return Err(super::bus::gone()),
                // The application is gone, or has just started and is not ready.
                Err(AtspiCallError::NoObject | AtspiCallError::NotOffered | AtspiCallError::Refused(_)) => {}
                Err(error @ AtspiCallError::NotAnswering { .. }) => stalled = Some(error),
            }
        }
        Ok(stalled.map_or(Ok(None), Err))
    }

    /// The process behind each connection.
    pub(crate) fn pids_by_bus(&self) -> HashMap<Arc<str>, u32> {
        self.with_applications(|all| {
            all.by_bus.iter().map(|(bus, application)| (Arc::clone(bus), application.pid)).collect()
        })
    }

    fn with_applications<T>(&self, work: impl FnOnce(&mut Applications) -> T) -> T {
        work(&mut self.shared.applications.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Program behind a connection.
enum AtspiPeer {
    Application(Application),
    /// An excluded program.
    Excluded(Arc<str>),
}

/// Returns `true` if a process runs one of these programs.
fn runs_one_of(pid: u32, programs: &HashSet<String>) -> bool {
    if programs.is_empty() {
        return false;
    }
    let file = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let file = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().to_lowercase();
    programs.contains(&file) || programs.contains(name.trim())
}

/// Reads the process of a connection from the bus, and the toolkit from the application.
async fn describe(
    bus: &Bus,
    root: ObjectRef,
    excluded: &HashSet<String>,
    origin: CoordinateOrigin,
) -> Option<AtspiPeer> {
    let pid: u32 = bus
        .ask_daemon("GetConnectionUnixProcessID", &(&*root.bus))
        .await
        .inspect_err(|error| tracing::debug!(%error, %root, "cannot find the process of an application"))
        .ok()?;
    if runs_one_of(pid, excluded) {
        return Some(AtspiPeer::Excluded(root.bus));
    }
    const APPLICATION: &str = "org.a11y.atspi.Application";
    let (toolkit, version, name) = tokio::join!(
        bus.property::<String>(&root, APPLICATION, "ToolkitName"),
        bus.property::<String>(&root, APPLICATION, "Version"),
        bus.property::<String>(&root, ACCESSIBLE, "Name"),
    );
    // An application that hangs is asked again at the next update.
    if matches!(name, Err(AtspiCallError::NotAnswering { .. })) {
        return None;
    }
    let toolkit = AtspiToolkit::of(
        &toolkit.unwrap_or_default(),
        &version.unwrap_or_default(),
        &name.unwrap_or_default(),
    );
    let has_pages = toolkit.has_pages_apart || draws_pages(pid);
    let application = Application { root, pid, toolkit, origin, has_pages };
    if let Err(error) = deliver_roles(bus, &application).await {
        tracing::warn!(%error, root = %application.root, "changes of roles in an application are not delivered");
    }
    Some(AtspiPeer::Application(application))
}

async fn candidates(bus: &Bus, application: &Application) -> CallResult<Vec<AtspiFrameCandidate>> {
    let mut objects = bus.children(&application.root).await?;
    objects.truncate(TOP_LEVELS_MAX);
    let read = pipelined(objects, |object| async move {
        let (name, extents) =
            tokio::join!(bus.property::<String>(&object, ACCESSIBLE, "Name"), extents(bus, &object));
        let name = match name {
            Ok(name) => name,
            Err(AtspiCallError::NoObject) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(AtspiFrameCandidate { object, name, extents: extents.ok().flatten() }))
    })
    .await;
    read.into_iter().filter_map(Result::transpose).collect()
}

/// The candidate that belongs to a window: by title, then by position.
fn best(
    candidates: &[AtspiFrameCandidate],
    window: &AtspiFrameCriteria,
    origin: CoordinateOrigin,
) -> Option<ObjectRef> {
    let placed = |candidate: &AtspiFrameCandidate| {
        candidate.extents.map(|extents| match origin {
            CoordinateOrigin::Screen => Scale::of(extents, window.bounds).apply(extents),
            // Nothing but the size is known.
            CoordinateOrigin::Window => {
                Rect::new(window.bounds.x, window.bounds.y, extents.width, extents.height)
            }
        })
    };
    let overlap = |candidate: &AtspiFrameCandidate| {
        placed(candidate)
            .and_then(|extents| extents.intersection(&window.bounds))
            .map_or(0, |common| i64::from(common.width) * i64::from(common.height))
    };
    let nearest = |fits: &dyn Fn(&AtspiFrameCandidate) -> bool| {
        candidates
            .iter()
            .filter(|candidate| fits(candidate))
            .max_by_key(|candidate| overlap(candidate))
            .map(|candidate| candidate.object.clone())
    };
    let title = window.title.trim();
    let covers = |candidate: &AtspiFrameCandidate| {
        placed(candidate).is_some_and(|extents| {
            (extents.width - window.bounds.width).abs() <= 2
                && (extents.height - window.bounds.height).abs() <= 2
                && (extents.x - window.bounds.x).abs() <= 2
                && (extents.y - window.bounds.y).abs() <= 2
        })
    };
    if window.kind.is_popup() {
        return nearest(&covers);
    }
    if !title.is_empty() {
        let exact = nearest(&|candidate| candidate.name == title);
        let part = || {
            nearest(&|candidate| {
                !candidate.name.is_empty()
                    && (title.contains(&candidate.name) || candidate.name.contains(title))
            })
        };
        if let Some(found) = exact.or_else(part) {
            return Some(found);
        }
    }
    // The frame includes the decorations of the window manager.
    let around = |candidate: &AtspiFrameCandidate| {
        placed(candidate).is_some_and(|extents| {
            (0..=64).contains(&(extents.width - window.bounds.width))
                && (0..=64).contains(&(extents.height - window.bounds.height))
        }) && overlap(candidate) > 0
    };
    nearest(&covers).or_else(|| nearest(&around))
}

#[cfg(test)]
mod tests {
    use deskhand_ui::WindowKind;

    use super::*;

    fn candidate(path: &str, name: &str, extents: [i32; 4]) -> AtspiFrameCandidate {
        AtspiFrameCandidate {
            object: ObjectRef::new(":1.1", path),
            name: name.to_owned(),
            extents: Some(extents.into()),
        }
    }

    #[test]
    fn a_window_is_matched_to_its_frame_by_title_then_by_position() {
        let all = [
            candidate("/writer", "a.odt - LibreOffice Writer", [0, 0, 1920, 1080]),
            candidate("/calc", "Untitled 1 - LibreOffice Calc", [0, 0, 1920, 1080]),
            candidate("/second", "Untitled 1 - LibreOffice Calc", [600, 400, 800, 600]),
            candidate("/nameless", "", [300, 300, 402, 221]),
            candidate("/menu", "", [10, 44, 200, 500]),
        ];
        let check = |title: &str, bounds: [i32; 4], kind, expected: Option<&str>| {
            let window =
                AtspiFrameCriteria { title: title.to_owned(), bounds: bounds.into(), kind, pid: Some(1) };
            let found = best(&all, &window, CoordinateOrigin::Screen);
            assert_eq!(found.as_ref().map(|object| &*object.path), expected, "{title} {bounds:?}");
        };
        let normal = WindowKind::Normal;
        check("a.odt - LibreOffice Writer", [0, 19, 1920, 1061], normal, Some("/writer"));
        check("* a.odt - LibreOffice Writer", [0, 19, 1920, 1061], normal, Some("/writer"));
        check("Untitled 1 - LibreOffice Calc", [600, 419, 800, 581], normal, Some("/second"));
        check("", [301, 319, 400, 200], WindowKind::Dialog, Some("/nameless"));
        check("", [10, 44, 200, 500], WindowKind::Popup, Some("/menu"));
        check("soffice", [10, 44, 200, 300], WindowKind::Popup, None);
    }
}
