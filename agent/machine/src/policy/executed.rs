//! Files that are run, or read by what runs, without anybody opening them: what is written there acts later, as the user.

use super::path::PathRoots;
use deskhand_ui::pattern::matches;

/// The most folders of programs that are known.
const FOLDERS_MAX: usize = 64;

/// Files of the home folder that shells, desktops and common programs run or read when they start, and places of keys.
const IN_HOME: &[&str] = &[
    ".bashrc|.bash_*|.profile|.zshrc|.zshenv|.zprofile|.zlogin|.zlogout|.kshrc|.mkshrc|.cshrc|.tcshrc|.login|.logout|.inputrc|.envrc",
    ".xprofile|.xinitrc|.xserverrc|.xsession|.xsessionrc|.xresources|.pam_environment|.dmrc",
    ".config/autostart/*|.config/autostart-scripts/*|.config/plasma-workspace/*|.config/systemd/*|.config/environment.d/*",
    ".config/fish/*|.config/git/*|.config/nvim/*|.config/i3/*|.config/sway/*|.config/openbox/*|.config/labwc/*|.config/libreoffice/*",
    ".config/thunar/*|.config/mimeapps.list|.config/user-dirs.dirs|.config/pip/*|.config/dconf/*|.config/gtk-*/*",
    ".local/bin/*|bin/*|.cargo/*|.local/lib/*|.local/share/applications/*|.local/share/dbus-1/*|.local/share/systemd/*",
    ".local/share/mime/*|.local/share/nautilus/*|.local/share/nemo/*|.local/share/kio/*|.local/share/kservices*|.local/share/gnome-shell/*",
    ".ssh/*|.gnupg/*|.gitconfig|.vimrc|.vim/*|.emacs|.emacs.d/*|.npmrc|.pypirc|.netrc|.mozilla/*|.thunderbird/*|.config/chromium/*",
    ".config/google-chrome/*|.config/deskhand/*|.local/share/deskhand/*|.local/state/deskhand/*",
];
/// Places of keys, passwords and sessions in the home folder.
const SECRETS: &str = ".ssh/*|.gnupg/*|.netrc|.pypirc|.npmrc|.git-credentials|.mozilla/*|.thunderbird/*|.config/chromium/*|.config/google-chrome/*|\
                       .aws/*|.azure/*|.kube/*|.docker/*|.config/gh/*|.config/gcloud/*|.password-store/*|.local/share/keyrings/*|\
                       .local/share/kwalletd/*|.config/deskhand/*|.local/state/deskhand/*|*_history";
/// Files of the system and of other users that hold keys, passwords and what processes know.
const SECRETS_OF_SYSTEM: &[&str] = &[
    "/etc/shadow*|/etc/gshadow*|/etc/security/opasswd*|/etc/sudoers|/etc/sudoers.d/*|/etc/ssh/*_key|/etc/ssl/private/*|/etc/krb5.keytab",
    "/etc/NetworkManager/system-connections/*|/etc/wpa_supplicant/*|/etc/wireguard/*|/etc/ppp/*secrets|/etc/ipsec.secrets|/etc/cron.*/*",
    "/etc/kubernetes/*|/etc/docker/*|/etc/cups/ssl/*|/var/lib/sss/*|/var/lib/NetworkManager/*|/var/mail/*|/var/spool/*|/var/backups/*",
    "/proc/*/?*|/proc/self|/proc/thread-self|/proc/kcore|/proc/kmsg|/proc/keys|/proc/kallsyms|/dev/*|/sys/*|/run/*|/var/run/*|/boot/*",
];
/// Folders of users.
const HOMES: &str = concat!("/root", "/*|/home", "/*");
/// Files of keys and passwords, by their names.
const SECRET_NAMES: &str = "*/id_rsa|*/id_dsa|*/id_ecdsa|*/id_ed25519|*/.env|*/.env.*|*/.netrc|*/.pgpass|*/.git-credentials|*/.htpasswd|\
                            *.kdbx|*.keystore|*.jks|*.p12|*.pfx|*_rsa.pem|*private*.pem|*.ppk";

/// Files that are run wherever they are, and folders of the system.
const ANYWHERE: &str = "*/.git/hooks/*|*/.git/config|*/.envrc|*.desktop|/etc/*|/usr/*|/bin/*|/sbin/*|/lib*/*|/opt/*|/boot/*|/var/spool/*|\
                        */cron.d/*|*/crontab|*/crontabs/*|*/.vscode/*";
/// Names of such files, for a file whose folder is not known.
const NAMES: &str = ".bashrc|.bash_*|.profile|.zshrc|.zshenv|.zprofile|.xprofile|.xinitrc|.xsession|.xsessionrc|.pam_environment|\
                     .envrc|.gitconfig|authorized_keys|*.desktop|crontab";

impl PathRoots {
    /// Returns `true` if a file at this absolute path is run, or read by what runs, without being opened.
    pub(crate) fn runs(&self, path: &str) -> bool {
        let below = |folder: &str| {
            let folder = folder.trim_end_matches('/');
            let rest = path.strip_prefix(folder).filter(|_| !folder.is_empty());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        self.in_home(path).is_some_and(|rest| IN_HOME.iter().any(|pattern| matches(pattern, rest)))
            || self.programs.iter().take(FOLDERS_MAX).any(|folder| below(folder))
            || matches(ANYWHERE, path)
    }

    /// Returns `true` if a file at this absolute path is in a place of secrets, or is such a place.
    pub(crate) fn is_secret(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        let is_in = |patterns: &str, path: &str| matches(patterns, path) || matches(patterns, &folder);
        let home = self.in_home(path);
        let is_of_home = |rest: &str| {
            matches(SECRETS, rest) || matches(SECRETS, &format!("{rest}/")) || matches(SECRET_NAMES, path)
        };
        if let Some(rest) = home {
            return is_of_home(rest);
        }
        if self.is_unknown() {
            return false;
        }
        let process = path.strip_prefix("/proc/").unwrap_or_default();
        if !process.is_empty() && process.bytes().all(|byte| byte.is_ascii_digit()) {
            return true;
        }
        // A session may work in a folder of its own anywhere.
        matches(SECRET_NAMES, path)
            || (!self.is_in_folder(path)
                && (SECRETS_OF_SYSTEM.iter().any(|patterns| is_in(patterns, path)) || is_in(HOMES, path)))
    }

    /// Returns `true` if a file is where the session works: in the home folder, or in its own one.
    pub fn is_in_folder(&self, path: &str) -> bool {
        let below = |folder: &str| {
            let folder = folder.trim_end_matches('/');
            let rest = path.strip_prefix(folder).filter(|_| !folder.is_empty());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        below(&self.home) || below(&self.folder)
    }

    /// The folders and files of secrets in the home folder and of processes and devices, by their paths.
    pub fn secret_places(&self) -> Vec<String> {
        let home = self.home.trim_end_matches('/');
        let own =
            SECRETS.split('|').map(|one| one.trim().trim_end_matches("/*")).filter(|one| !one.contains('*'));
        let own = own.filter(|_| !home.is_empty()).map(|one| format!("{home}/{one}"));
        own.chain(["/proc", "/sys", "/dev", "/run"].map(str::to_owned)).collect()
    }

    /// The part of a path below the home folder.
    fn in_home<'a>(&self, path: &'a str) -> Option<&'a str> {
        let home = self.home.trim_end_matches('/');
        path.strip_prefix(home).filter(|_| !home.is_empty())?.strip_prefix('/')
    }

    /// Returns `true` if a file of this name is, in the folder that such files are in.
    pub(crate) fn may_run(name: &str) -> bool {
        let name = name.trim().rsplit('/').next().unwrap_or_default();
        matches(NAMES, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_secrets_are_known_wherever_they_are() {
        let known = |home: &str, folder: &str| PathRoots {
            home: home.to_owned(),
            folder: folder.to_owned(),
            ..PathRoots::default()
        };
        let ada = known("/home/ada", "/home/ada/work");
        let root = known("/root", "/srv/work");
        for path in [
            "/etc/shadow",
            "/etc/shadow-",
            "/etc/sudoers.d",
            "/etc/ssh/ssh_host_ed25519_key",
            "/proc/1/environ",
            "/proc/self/mem",
            "/proc/1",
            "/dev/sda",
            "/dev",
            "/run/user/1000/keyring",
            "/home/bob/notes.txt",
            "/srv/app/.env",
            "/data/id_rsa",
        ] {
            assert!(ada.is_secret(path) && root.is_secret(path), "{path}");
        }
        for path in
            ["/home/ada/.ssh", "/home/ada/.ssh/config", "/home/ada/.gnupg", "/root/notes.txt", "/root"]
        {
            assert!(ada.is_secret(path), "{path}");
        }
        for path in [
            "/home/ada/notes.txt",
            "/etc/hostname",
            "/etc/ssh/ssh_config",
            "/proc/cpuinfo",
            "/usr/share/doc/a",
        ] {
            assert!(!ada.is_secret(path), "{path}");
        }
        assert!(!root.is_secret("/root/notes.txt") && !root.is_secret("/srv/work/a.txt"));
        assert!(!known("/home/ada", "/home/team/work").is_secret("/home/team/work/a.txt"));
        assert!(!PathRoots::default().is_secret("/etc/shadow"), "of a session that does not know its places");
    }

    #[test]
    fn files_that_are_run_without_being_opened_are_known_by_their_place() {
        let programs = vec!["/srv/tools".to_owned()];
        let places = PathRoots { home: "/home/ada".to_owned(), programs, ..PathRoots::default() };
        for path in [
            "/home/ada/.bashrc",
            "/home/ada/.config/autostart/x.desktop",
            "/home/ada/.config/systemd/user/x.service",
            "/home/ada/.local/bin/ls",
            "/home/ada/bin/ls",
            "/home/ada/work/.git/hooks/pre-commit",
            "/home/ada/.ssh/authorized_keys",
            "/home/ada/Desktop/x.desktop",
            "/srv/tools/x",
            "/etc/cron.d/x",
        ] {
            assert!(places.runs(path), "{path}");
        }
        for path in [
            "/home/ada/notes.txt",
            "/home/ada/Documents/bin.txt",
            "/srv/toolsx/a",
            "/tmp/a.sh",
            "/home/bob/.bashrc",
        ] {
            assert!(!places.runs(path), "{path}");
        }
        assert!(
            PathRoots::may_run(".profile")
                && PathRoots::may_run("../x.desktop")
                && !PathRoots::may_run("profile.txt")
        );
    }
}
