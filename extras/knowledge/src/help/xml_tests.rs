//! Tests of pages in Mallard and DocBook.

use super::*;

fn check(xml: &str, expected: &str) {
    let found = text(xml).unwrap();
    assert_eq!(found.trim(), expected.trim(), "{xml}");
}

#[test]
fn mallard_pages_become_text() {
    check(
        r##"<page xmlns="http://projectmallard.org/1.0/" type="guide" id="printing">
          <info><link type="guide" xref="index#print"/><credit><name>Jo</name></credit>
            <desc>Print your <em>files</em>.</desc></info>
          <title>Printing documents</title>
          <comment><p>Not for readers.</p></comment>
          <note style="important"><p>You need a
             printer: see <link xref="setup#x"/>, or <link href="help:a/b">the help</link>.</p></note>
          <section id="s"><title>Preview</title>
            <steps><item><p>Select <guiseq><gui style="menu">File</gui>
              <gui>Print Preview</gui></guiseq>, or press <keyseq><key>Shift</key>
              <key>P</key></keyseq>.</p>
              <list><item><p>PDF</p></item></list></item></steps>
            <table><title>Keys</title><tr><td><p>Zoom</p></td><td><p>Alt</p></td></tr></table>
          </section></page>"##,
        "# Printing documents\nPrint your files.\nYou need a printer: see x, or the help.\n\n## Preview\n\
         - Select File ▸ Print Preview, or press Shift+P.\n  - PDF\nKeys\nZoom | Alt",
    );
}

#[test]
fn docbook_becomes_text() {
    check(
        r#"<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//OASIS//DTD DocBook XML V4.1.2//EN" "x" [<!ENTITY app "Editor">]>
        <article><articleinfo><title>Left out</title></articleinfo><title>Manual</title>
        <sect1><title>Start</title><para>Run &app; &amp; wait &#8212; or <command>edit</command>.</para>
        <screen>$ edit
  now</screen>
        <variablelist><varlistentry><term>-x</term><listitem><para>Exit.</para></listitem></varlistentry></variablelist>
        </sect1></article>"#,
        "# Manual\n\n## Start\nRun app & wait — or edit.\n$ edit\n  now\n- -x\n- Exit.",
    );
}

#[test]
fn damaged_pages_are_errors() {
    for xml in ["<page><p>", "<page></p>", "<a b=</a>"] {
        assert!(text(xml).is_err(), "{xml}");
    }
    let deep = "<p>".repeat(DEPTH_MAX + 1);
    assert!(text(&deep).unwrap_err().contains("levels"));
}
