//! Documents of office programs: packages of XML, and old binary workbooks.

mod docx;
mod odf;
mod ods;
mod package;
mod pptx;
mod xls;
mod xlsx;
mod xml;

pub(crate) use docx::document as docx;
pub(crate) use odf::document as odf;
pub(crate) use ods::tables as ods;
pub(crate) use package::{Package, fault};
pub(crate) use pptx::document as pptx;
pub(crate) use xls::{is_encrypted_package, is_workbook, tables as xls};
pub(crate) use xlsx::tables as xlsx;
