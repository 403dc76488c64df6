//! The capabilities of a desktop in memory.

use std::{
    fmt,
    process::ExitStatus,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use deskhand_desktop::{
    CancelScope, Capabilities, Desktop, DesktopError, DesktopResult, ElementAction, ElementPatterns,
    InputInjection, LaunchRequest, LaunchedProgram, PointerChord, ProcessExit, Quirks, TreeLimits, UiTree,
    WindowManagement, WindowTreeSnapshot, keys::KeyChord,
};
use deskhand_ui::{
    CellRange, CellRef, Element, ElementTreePath, InstalledApplication, State, TableContent, Tree,
    WindowInfo, WindowKind,
    duration::milliseconds,
    geometry::{Point, Rect, Screen, Size},
    ids::{ElementId, WindowId},
};

use crate::{
    plan::{Behaviour, FakeApp, FakeWindow, Truth},
    stage::{App, Due, Stage},
    tree::not_offered,
};

const SCREEN: Size = Size { width: 1280, height: 1024 };

/// What happens once there were so many inputs.
type Hook = (u64, Box<dyn FnOnce() + Send>);

/// A desktop in memory.
pub struct FakeDesktop {
    stage: Mutex<Stage>,
    hook: Mutex<Option<Hook>>,
}

impl fmt::Debug for FakeDesktop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeDesktop").field("stage", &self.stage).finish_non_exhaustive()
    }
}

impl FakeDesktop {
    /// A desktop on which the `running` applications have their windows open and the `installed` ones can be
    /// launched.
    pub fn new(
        running: impl IntoIterator<Item = FakeApp>,
        installed: impl IntoIterator<Item = FakeApp>,
    ) -> Self {
        let mut stage = Stage::new(SCREEN);
        for plan in running {
            let pid = Some(1_000 + stage.fresh_id());
            let windows = plan.windows.clone();
            stage.apps.push(App { plan, pid, answers: true });
            let app = stage.apps.len() - 1;
            for window in &windows {
                stage.open(app, window, None);
            }
        }
        for plan in installed {
            stage.apps.push(App { plan, pid: None, answers: true });
        }
        stage.log.clear();
        Self { stage: Mutex::new(stage), hook: Mutex::default() }
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn reach(&self) -> DesktopResult<MutexGuard<'_, Stage>> {
        let stage = self.stage();
        if stage.gone {
            Err(DesktopError::Gone { what: "the display is closed".to_owned() })
        } else {
            Ok(stage)
        }
    }

    /// What really happened because of actions, in order.
    pub fn truth(&self) -> Vec<Truth> {
        self.stage().truth.clone()
    }

    /// How many real input events and chords were sent.
    pub fn inputs(&self) -> u64 {
        self.stage().inputs
    }

    /// Does something once `inputs` more inputs were sent, right after the last of them.
    pub fn after_inputs(&self, inputs: u64, hook: impl FnOnce() + Send + 'static) {
        let at = self.inputs() + inputs;
        *self.hook.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, Box::new(hook)));
        self.call_hook();
    }

    fn call_hook(&self) {
        let inputs = self.inputs();
        let due = {
            let mut hook = self.hook.lock().unwrap_or_else(PoisonError::into_inner);
            hook.take_if(|(at, _)| inputs >= *at)
        };
        if let Some((_, hook)) = due {
            hook();
        }
    }

    /// Sends an input, unless the running call is cancelled.
    fn send(&self, input: impl FnOnce(&mut Stage)) -> DesktopResult<()> {
        CancelScope::current().check(0)?;
        input(&mut *self.reach()?);
        self.call_hook();
        Ok(())
    }

    /// Clears the record of events that is kept for tests. Not while a watch is active.
    pub fn forget_history(&self) {
        let mut stage = self.stage();
        stage.truth.clear();
        stage.log.clear();
    }

    /// Adds a file.
    pub fn add_file(&self, path: &str, content: &str) {
        self.stage().files.insert(path.to_owned(), content.to_owned());
    }

    /// The saved files: path and content.
    pub fn files(&self) -> Vec<(String, String)> {
        self.stage().files.iter().map(|(path, content)| (path.clone(), content.clone())).collect()
    }

    /// The virtual time, in milliseconds.
    pub fn now_ms(&self) -> u64 {
        self.stage().now_ms
    }

    /// The element with this key, wherever it is.
    pub fn find_key(&self, key: &str) -> Option<ElementId> {
        self.stage().nodes.iter().find(|(_, node)| node.plan.key == key).map(|(id, _)| *id)
    }

    /// The window whose title contains `part`.
    pub fn find_window(&self, part: &str) -> Option<WindowId> {
        self.stage().windows.iter().find(|window| window.plan.title.contains(part)).map(|window| window.id)
    }

    /// Fault: closes a window, as if its application had crashed.
    pub fn break_window(&self, window: WindowId) {
        self.stage().close(window);
    }

    /// Fault: removes an element.
    pub fn break_element(&self, element: ElementId) {
        self.stage().remove(element);
    }

    /// Fault: something that an application does by itself, to the element with this key.
    pub fn happens(&self, key: &str, behaviour: &Behaviour) {
        let Some(id) = self.find_key(key) else { return };
        let mut stage = self.stage();
        if let Some(window) = stage.nodes.get(&id).map(|node| node.window) {
            stage.run(behaviour, Some(id), window);
        }
    }

    /// Fault: an element moves.
    pub fn move_element(&self, key: &str, to: Rect<Screen>) {
        let Some(id) = self.find_key(key) else { return };
        if let Some(node) = self.stage().nodes.get_mut(&id) {
            node.bounds = to;
        }
    }

    /// Fault: stops or resumes the answers of a window's application.
    pub fn set_answering(&self, window: WindowId, answers: bool) {
        let mut stage = self.stage();
        let app = stage.window(window).map(|shown| shown.app);
        if let Some(app) = app.and_then(|app| stage.apps.get_mut(app)) {
            app.answers = answers;
        }
    }

    /// Fault: ends the display.
    pub fn break_display(&self) {
        self.stage().gone = true;
    }

    /// Opens a window of the application of `beside`, such as a dialog that opens by itself.
    pub fn open(&self, beside: WindowId, window: &FakeWindow) -> Option<WindowId> {
        let mut stage = self.stage();
        let app = stage.window(beside)?.app;
        let owner = (window.kind != WindowKind::Normal).then_some(beside);
        Some(stage.open(app, window, owner))
    }
}

impl Desktop for FakeDesktop {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            platform: "fake",
            screen: SCREEN,
            windowing: true,
            ui_tree: true,
            input: true,
            capture: true,
        }
    }

    async fn see(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<WindowTreeSnapshot> {
        Ok(WindowTreeSnapshot { tree: self.tree(window, limits).await?, notices: Vec::new() })
    }

    fn reserve_element_id(&self) -> ElementId {
        ElementId(self.stage().fresh_id())
    }
}

impl WindowManagement for FakeDesktop {
    async fn windows(&self) -> DesktopResult<Vec<WindowInfo>> {
        Ok(self.reach()?.window_infos())
    }

    async fn windows_changed(&self, known: &[WindowInfo], bound: Duration) -> DesktopResult<Vec<WindowInfo>> {
        let mut stage = self.reach()?;
        let until = stage.now_ms + milliseconds(bound);
        loop {
            let windows = stage.window_infos();
            if windows != known || !stage.advance(until) {
                return Ok(windows);
            }
        }
    }

    async fn activate(&self, window: WindowId) -> DesktopResult<()> {
        let mut stage = self.reach()?;
        let at = stage.windows.iter().position(|shown| shown.id == window);
        let at = at.ok_or(DesktopError::NoWindow(window))?;
        let shown = stage.windows.remove(at);
        stage.windows.push(shown);
        // Dialogs and menus stay above their owner.
        let (owned, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut stage.windows).into_iter().partition(|shown| shown.owner == Some(window));
        stage.windows = others.into_iter().chain(owned).collect();
        stage.active = Some(stage.blocked_by(window).unwrap_or(window));
        Ok(())
    }

    async fn close(&self, window: WindowId) -> DesktopResult<()> {
        let mut stage = self.reach()?;
        stage.window(window).ok_or(DesktopError::NoWindow(window))?;
        stage.ask_to_close(window);
        Ok(())
    }

    fn applications(&self) -> Vec<InstalledApplication> {
        self.reach().map(|stage| stage.installed()).unwrap_or_default()
    }

    async fn launch_all(&self, requests: &[LaunchRequest]) -> DesktopResult<Vec<LaunchedProgram>> {
        let mut launched = Vec::new();
        for request in requests {
            launched.push(self.launch(request).await?);
        }
        Ok(launched)
    }

    async fn launch(&self, request: &LaunchRequest) -> DesktopResult<LaunchedProgram> {
        let mut stage = self.reach()?;
        let wanted = request.program.to_lowercase();
        let found = stage.apps.iter().position(|app| {
            // Whatever is to be opened, the first one opens it.
            wanted.is_empty() || app.plan.programs.iter().any(|program| program.to_lowercase() == wanted)
        });
        let Some(index) = found else {
            let names: Vec<&str> = stage.apps.iter().map(|app| app.plan.name.as_str()).collect();
            return Err(DesktopError::Launch {
                program: request.program.clone(),
                reason: format!("no such program; installed: {}", names.join(", ")),
            });
        };
        let pid = 1_000 + stage.fresh_id();
        stage.ended.insert(pid, None);
        let Some(app) = stage.apps.get_mut(index) else { return Err(DesktopError::NoWindow(WindowId(0))) };
        let hands_over = app.plan.single_instance && app.pid.is_some();
        if !hands_over {
            app.pid = Some(pid);
        }
        let plan = app.plan.clone();
        if hands_over {
            stage.schedule(
                plan.launch_ms / 2,
                Due::Ended { pid, how: ProcessExit::Status(ExitStatus::default()) },
            );
        }
        if let Some(splash_ms) = plan.splash_ms {
            let splash = FakeWindow {
                kind: WindowKind::Popup,
                accessible: false,
                lives_ms: Some(splash_ms),
                ..FakeWindow::normal("").at(400, 400, 300, 200)
            };
            stage.schedule(plan.launch_ms / 4, Due::Open { app: index, windows: vec![splash] });
        }
        stage.schedule(plan.launch_ms, Due::Open { app: index, windows: plan.windows });
        Ok(LaunchedProgram { pid, name: plan.name, wm_class: Some(plan.root) })
    }

    fn process_ended(&self, pid: u32) -> Option<ProcessExit> {
        self.stage().ended.get(&pid).copied().flatten()
    }

    fn last_words(&self, _: u32) -> String {
        String::new()
    }
}

impl UiTree for FakeDesktop {
    async fn tree(&self, window: WindowId, limits: TreeLimits) -> DesktopResult<Tree> {
        self.reach()?.show_tree(window, limits)
    }

    async fn element(&self, id: ElementId) -> DesktopResult<Element> {
        self.reach()?.show_element(id, 0)
    }

    async fn children(&self, id: ElementId, max: usize) -> DesktopResult<Vec<Element>> {
        let stage = self.reach()?;
        let node = stage.node(id)?;
        if node.plan.sheet.is_some() {
            return Err(not_offered("list children", node, "a list of children; read its cells"));
        }
        node.children.iter().take(max).map(|child| stage.show_element(*child, 1)).collect()
    }

    async fn selected(&self, id: ElementId) -> DesktopResult<Vec<Element>> {
        let children = self.children(id, usize::MAX).await?;
        Ok(children.into_iter().filter(|child| child.states.has(State::Selected)).collect())
    }

    async fn element_at(&self, window: WindowId, point: Point<Screen>) -> DesktopResult<Option<Element>> {
        let stage = self.reach()?;
        stage.window(window).ok_or(DesktopError::NoWindow(window))?;
        stage.element_at(window, point).map(|id| stage.show_element(id, 0)).transpose()
    }

    async fn is_within(&self, id: ElementId, ancestor: ElementId) -> DesktopResult<bool> {
        let stage = self.reach()?;
        for one in [id, ancestor] {
            stage.node(one)?;
        }
        Ok(stage.is_within(id, ancestor))
    }

    async fn may_show_elements(&self, window: &WindowInfo) -> DesktopResult<bool> {
        self.reach()?.window(window.id).ok_or(DesktopError::NoWindow(window.id))?;
        Ok(true)
    }

    async fn known_focus(&self, window: WindowId) -> DesktopResult<Option<Element>> {
        let focus = self.reach()?.window(window).ok_or(DesktopError::NoWindow(window))?.focus;
        match focus {
            Some(id) => self.element(id).await.map(Some),
            None => Ok(None),
        }
    }

    fn last_place(&self, id: ElementId) -> Option<ElementTreePath> {
        self.stage().places.get(&id).copied()
    }
}

impl ElementPatterns for FakeDesktop {
    async fn perform(&self, id: ElementId, action: &ElementAction) -> DesktopResult<()> {
        self.reach()?.act_on(id, action)
    }

    fn quirks(&self, _id: ElementId) -> Quirks {
        Quirks::default()
    }

    async fn action_names(&self, id: ElementId) -> DesktopResult<Vec<String>> {
        let stage = self.reach()?;
        let offers = stage.node(id)?.plan.patterns.contains(&deskhand_ui::ElementCapability::Action);
        Ok(if offers { vec!["click".to_owned()] } else { Vec::new() })
    }

    async fn text(&self, id: ElementId, max: usize) -> DesktopResult<String> {
        self.reach()?.read_text(id, max)
    }

    async fn text_selection(&self, id: ElementId) -> DesktopResult<Option<(usize, usize)>> {
        let stage = self.reach()?;
        let node = stage.node(id)?;
        let length = node.plan.text.as_ref().map_or(0, |text| text.chars().count());
        Ok(node.marked.filter(|(_, end)| node.plan.tells_caret && *end <= length))
    }

    async fn caret(&self, id: ElementId) -> DesktopResult<Option<usize>> {
        let stage = self.reach()?;
        let node = stage.node(id)?;
        Ok((node.plan.tells_caret && node.plan.text.is_some()).then(|| node.caret_at()))
    }

    async fn formula(&self, table: ElementId, cell: CellRef) -> DesktopResult<Option<String>> {
        self.reach()?.show_formula(table, cell)
    }

    async fn cells(&self, table: ElementId, range: CellRange) -> DesktopResult<TableContent> {
        self.reach()?.show_cells(table, range)
    }

    async fn cell(&self, table: ElementId, cell: CellRef) -> DesktopResult<Element> {
        self.reach()?.show_cell(table, cell)
    }
}

impl InputInjection for FakeDesktop {
    async fn click(
        &self,
        at: Point<Screen>,
        held: impl Into<PointerChord> + Send,
        count: u8,
    ) -> DesktopResult<()> {
        self.send(|stage| stage.click_at(at, &held.into(), count))
    }

    async fn drag(&self, from: Point<Screen>, to: Point<Screen>, held: &PointerChord) -> DesktopResult<()> {
        self.send(|stage| stage.drag(from, to, held))
    }

    async fn scroll(&self, at: Point<Screen>, right: i32, down: i32) -> DesktopResult<()> {
        self.send(|stage| stage.turn_wheel(at, right, down))
    }

    async fn hover(&self, _at: Point<Screen>) -> DesktopResult<()> {
        self.send(|stage| stage.inputs += 1)
    }

    async fn press(&self, chord: &KeyChord) -> DesktopResult<()> {
        self.send(|stage| stage.press_chord(chord))
    }

    async fn type_text(&self, text: &str) -> DesktopResult<()> {
        self.enter(text, &[]).await
    }

    async fn enter(&self, text: &str, then: &[KeyChord]) -> DesktopResult<()> {
        let scope = CancelScope::current();
        let mut sent = 0;
        for character in text.chars() {
            scope.check(sent)?;
            self.send(|stage| stage.type_into_focus(character))?;
            sent += 1;
            // Others see each of them, as of keys on a keyboard.
            tokio::task::yield_now().await;
        }
        for chord in then {
            scope.check(sent)?;
            self.press(chord).await?;
            sent += 1;
        }
        Ok(())
    }
}
