//! Tables between numpy's arrays and bytes; see `flashtwin_tables`.

use flashtwin_tables::{Column, Columns, Damage, Table, pack, read, unpack, write};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

create_exception!(
    flashtwin._core,
    TableError,
    PyException,
    "Bytes that are not a table."
);

fn damaged(damage: Damage) -> PyErr {
    TableError::new_err(damage.to_string())
}

/// A column as Python has it.
#[derive(FromPyObject)]
pub enum Given<'py> {
    Whole(PyReadonlyArray1<'py, i64>),
    Numbers(PyReadonlyArray1<'py, f64>),
    Words(PyReadonlyArray1<'py, i64>, Vec<String>),
}

/// A Parquet file as bytes. A column is an array of int64; one of float64, in which NaN stands for
/// what is lacking; or of text, the place of each row's among some words, below zero where lacking.
#[pyfunction]
pub fn write_parquet<'py>(
    py: Python<'py>,
    columns: Vec<(String, Given<'py>)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut given = Vec::new();
    for (name, column) in &columns {
        let column = match column {
            Given::Whole(values) => Column::Whole(values.as_slice()?),
            Given::Numbers(values) => Column::Numbers(values.as_slice()?),
            Given::Words(places, words) => {
                let places = places.as_slice()?;
                if places.iter().any(|place| *place >= words.len() as i64) {
                    return Err(PyValueError::new_err(
                        "a place beyond the words of a column",
                    ));
                }
                Column::Words(places, words)
            }
        };
        given.push((name.clone(), column));
    }
    if given
        .windows(2)
        .any(|pair| pair[0].1.rows() != pair[1].1.rows())
    {
        return Err(PyValueError::new_err("columns of a table are equally long"));
    }
    let file = py.detach(|| write(&given));
    Ok(PyBytes::new(py, &file))
}

/// The columns of a Parquet file of whole numbers, of at most `most_values` values.
#[pyfunction]
pub fn read_parquet<'py>(
    py: Python<'py>,
    data: &[u8],
    most_values: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let table = py.detach(|| read(data, most_values)).map_err(damaged)?;
    columns(py, table)
}

type Arrays<'py> = Vec<(String, PyReadonlyArray1<'py, i64>)>;

/// Several tables as one block of bytes.
#[pyfunction]
pub fn pack_tables<'py>(
    py: Python<'py>,
    tables: Vec<(String, Arrays<'py>)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut given = Vec::new();
    for (name, arrays) in &tables {
        let mut columns: Columns<'_> = Vec::new();
        for (name, values) in arrays {
            columns.push((name.clone(), values.as_slice()?));
        }
        if columns
            .windows(2)
            .any(|pair| pair[0].1.len() != pair[1].1.len())
        {
            return Err(PyValueError::new_err("columns of a table are equally long"));
        }
        given.push((name.clone(), columns));
    }
    let block = py.detach(|| pack(&given));
    Ok(PyBytes::new(py, &block))
}

/// The tables of a block, of at most `most_values` values.
#[pyfunction]
pub fn unpack_tables<'py>(
    py: Python<'py>,
    block: &[u8],
    most_values: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let tables = py.detach(|| unpack(block, most_values)).map_err(damaged)?;
    let answer = PyDict::new(py);
    for (name, table) in tables {
        answer.set_item(name, columns(py, table)?)?;
    }
    Ok(answer)
}

fn columns<'py>(py: Python<'py>, table: Table) -> PyResult<Bound<'py, PyDict>> {
    let answer = PyDict::new(py);
    for (name, values) in table {
        answer.set_item(name, values.into_pyarray(py))?;
    }
    Ok(answer)
}
