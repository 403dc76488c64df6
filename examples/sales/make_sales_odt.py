#!/usr/bin/env python3
"""Writes sales.odt beside this file: a short report with one table, named "Sales".

The bytes are the same on every run, so that a change of the document shows in review as a change of this
file. The cells come from expected.json, against which the result of the demo is checked as well.

The order of the rows is on purpose: a spreadsheet that completes what is typed from the cells above turns
"North" below "North-East" into "North-East".
"""

import json
import pathlib
import zipfile
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
MEDIA_TYPE = "application/vnd.oasis.opendocument.text"
NAMESPACES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in [
        ("office", "office"),
        ("style", "style"),
        ("text", "text"),
        ("table", "table"),
        ("fo", "xsl-fo-compatible"),
        ("svg", "svg-compatible"),
        ("meta", "meta"),
    ]
) + ' xmlns:dc="http://purl.org/dc/elements/1.1/"'

HEADING = "Sales of the third quarter"
OPENING = (
    "Four regions reported their sales for July to September. The table below holds the units sold and the "
    "revenue in euros."
)
CLOSING = (
    "West sold the most. North-East joined in August, so its figures cover two months. The figures of the "
    "fourth quarter follow in January."
)


def document(root, body):
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<office:{root} {NAMESPACES} office:version="1.2">{body}</office:{root}>\n'


def cell(value, header):
    if isinstance(value, str):
        kind, align = 'office:value-type="string"', "Left"
    else:
        kind, align = f'office:value-type="float" office:value="{value}"', "Right"
    style = "Table_20_Heading" if header else f"Cell_{align}"
    return (
        f'<table:table-cell table:style-name="Cell" {kind}>'
        f'<text:p text:style-name="{style}">{escape(str(value))}</text:p></table:table-cell>'
    )


def table(cells):
    rows = "".join(
        "<table:table-row>" + "".join(cell(value, index == 0) for value in row) + "</table:table-row>"
        for index, row in enumerate(cells)
    )
    columns = f'<table:table-column table:style-name="Column" table:number-columns-repeated="{len(cells[0])}"/>'
    return f'<table:table table:name="Sales" table:style-name="Table">{columns}{rows}</table:table>'


def content(cells):
    styles = (
        '<style:style style:name="Table" style:family="table">'
        '<style:table-properties style:width="12cm" table:align="left" table:border-model="collapsing"/></style:style>'
        '<style:style style:name="Column" style:family="table-column">'
        '<style:table-column-properties style:column-width="4cm"/></style:style>'
        '<style:style style:name="Cell" style:family="table-cell">'
        '<style:table-cell-properties fo:padding="0.1cm" fo:border="0.5pt solid #000000"/></style:style>'
    )
    text = (
        f'<text:h text:style-name="Heading_20_1" text:outline-level="1">{HEADING}</text:h>'
        f'<text:p text:style-name="Text_20_body">{OPENING}</text:p>'
        f"{table(cells)}"
        f'<text:p text:style-name="After_20_table">{CLOSING}</text:p>'
    )
    return document(
        "document-content",
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{text}</office:text></office:body>",
    )


def paragraph_style(name, paragraph="", text="", parent="Standard"):
    display = name.replace("_20_", " ")
    return (
        f'<style:style style:name="{name}" style:display-name="{display}" style:family="paragraph" '
        f'style:parent-style-name="{parent}"><style:paragraph-properties {paragraph}/>'
        f"<style:text-properties {text}/></style:style>"
    )


def styles():
    font = "Liberation Sans"
    return document(
        "document-styles",
        f'<office:font-face-decls><style:font-face style:name="{font}" svg:font-family="\'{font}\'"/>'
        "</office:font-face-decls><office:styles>"
        '<style:style style:name="Standard" style:family="paragraph">'
        f'<style:text-properties style:font-name="{font}" fo:font-size="11pt" fo:language="en" fo:country="US"/>'
        "</style:style>"
        + paragraph_style("Heading_20_1", 'fo:margin-bottom="0.4cm"', 'fo:font-size="18pt" fo:font-weight="bold"')
        + paragraph_style("Text_20_body", 'fo:margin-bottom="0.4cm"')
        + paragraph_style("After_20_table", 'fo:margin-top="0.4cm"')
        + paragraph_style("Table_20_Heading", 'fo:text-align="center"', 'fo:font-weight="bold"')
        + paragraph_style("Cell_Left", 'fo:text-align="start"')
        + paragraph_style("Cell_Right", 'fo:text-align="end"')
        + "</office:styles><office:automatic-styles>"
        '<style:page-layout style:name="Page"><style:page-layout-properties fo:page-width="21cm" '
        'fo:page-height="29.7cm" fo:margin="2.5cm"/></style:page-layout></office:automatic-styles>'
        '<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="Page"/>'
        "</office:master-styles>",
    )


def meta():
    return document("document-meta", f"<office:meta><dc:title>{HEADING}</dc:title></office:meta>")


def manifest():
    entries = [("/", MEDIA_TYPE)] + [(name, "text/xml") for name in ("content.xml", "styles.xml", "meta.xml")]
    lines = "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{kind}"/>' for path, kind in entries
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<manifest:manifest '
        'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2">'
        f"{lines}</manifest:manifest>\n"
    )


def main():
    cells = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))["cells"]
    parts = [
        # First and not compressed, so that its type can be read from the first bytes of the file.
        ("mimetype", MEDIA_TYPE, zipfile.ZIP_STORED),
        ("content.xml", content(cells), zipfile.ZIP_DEFLATED),
        ("styles.xml", styles(), zipfile.ZIP_DEFLATED),
        ("meta.xml", meta(), zipfile.ZIP_DEFLATED),
        ("META-INF/manifest.xml", manifest(), zipfile.ZIP_DEFLATED),
    ]
    with zipfile.ZipFile(HERE / "sales.odt", "w") as archive:
        for name, text, method in parts:
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = method
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text)


if __name__ == "__main__":
    main()
