//! Tests of man pages.

use super::*;

fn check(page: &str, expected: &str) {
    assert_eq!(text(page).trim(), expected.trim(), "{page}");
}

#[test]
fn man_macros_become_text() {
    check(
        ".\\\" comment\n.TH LS \"1\" \"September 2022\"\n.SH NAME\nls \\- list directory contents\n.SH \"EXIT STATUS\"\n\
         .B ls\n[\\fI\\,OPTION\\/\\fR]...\n.PP\nSort by\n.BR name (7),\nor\n.IR size .\n\
         .TP\n\\fB\\-a\\fR, \\fB\\-\\-all\\fR\ndo not ignore\nentries\n.IP \\(bu 2\nitem\n.SS Sub\n.nf\n  a\n    b\n.fi\nend\n",
        "# ls(1)\n\n## Name\nls - list directory contents\n\n## Exit status\nls [OPTION]...\nSort by name(7), or size.\n\
         - -a, --all: do not ignore entries\n- •: item\n\n### Sub\n  a\n    b\nend",
    );
}

#[test]
fn definitions_conditions_and_tables_are_read() {
    check(
        ".TH X 1\n.de Vb\n.ft CW\nnot this\n..\n.ie \\n(.g .ds Aq \\(aq\n.el       .ds Aq '\n.if t \\{\\\n.  printer only\n.\\}\n\
         .if n .B terminal\n.ig\nignored\n..\nshown\n.TS\nallbox;\nl l.\nKey\tMeaning\nq\tquit\n.TE\nafter\n",
        "# x(1)\nterminal shown\nKey | Meaning\nq | quit\nafter",
    );
}

#[test]
fn mdoc_macros_become_text() {
    check(
        ".Dd $Mdocdate$\n.Dt SSH 1\n.Os\n.Sh NAME\n.Nm ssh\n.Nd OpenSSH remote login client\n.Sh SYNOPSIS\n.Nm\n\
         .Op Fl 46A\n.Op Fl D Oo Ar bind_address : Oc Ns Ar port\n.Sh DESCRIPTION\n.Nm\nconnects to\n.Ar destination ,\nsee\n\
         .Xr ssh_config 5 .\n.Bl -tag -width Ds\n.It Fl 4\nForces IPv4.\n.It Fl F Ar file\nReads\n.Dq Li it .\n.El\n.Pp\nEnd.\n",
        "# ssh(1)\n\n## Name\nssh – OpenSSH remote login client\n\n## Synopsis\nssh [-46A] [-D [bind_address:]port]\n\n\
         ## Description\nssh connects to destination, see ssh_config(5).\n- -4: Forces IPv4.\n- -F file: Reads “it”.\nEnd.",
    );
}

#[test]
fn pages_are_recognised() {
    assert!(is_man(".\\\" x\n.TH A 1\n"));
    assert!(is_man(".Dd x\n"));
    assert!(!is_man("# markdown\n.TH is a macro\n".trim_end_matches(".TH is a macro\n")));
    assert_eq!(refers_to(".\\\" x\n.so man1/grep.1\n"), Some("man1/grep.1"));
    assert_eq!(refers_to(".TH A 1\n"), None);
}

#[test]
fn any_text_is_survived() {
    let signs =
        [".", "\\", "\"", "'", "{", "}", "(", "[", "f", "B", "TS", "if", " ", "\n", "Op", "Fl", "é", "de"];
    let mut state = 1_u64;
    let mut page = String::from(".Sh x\n");
    for _ in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        page.push_str(signs[usize::try_from(state >> 33).unwrap() % signs.len()]);
    }
    text(&page);
    text(&page.replace(".Sh", ".SH"));
}
