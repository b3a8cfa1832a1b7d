//! Kernels that Python starts for environments.

use crate::apart::apart;
use cwndlab_lab::gym::{Job, Launch, Process};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The longest message of a kernel in bytes.
const MESSAGE: usize = 65536;

/// A Python function that starts a kernel for a job, and the algorithms of a user's crate that are linked into it.
pub(crate) struct Launcher {
    pub(crate) function: Py<PyAny>,
    pub(crate) linked: Vec<&'static str>,
}

/// A kernel that Python has started, and our end of the line to it.
struct Kernel {
    handle: Py<PyAny>,
    line: UnixStream,
    limit: Duration,
    buffer: Vec<u8>,
}

impl Launch for Launcher {
    fn launch(&self, job: &Job<'_>) -> Result<Box<dyn Process>, String> {
        Python::attach(|py| {
            let Job { text, file, overrides, remote, agents, seed, .. } = job;
            let sizes = (job.packets_expected, job.packets_held, job.connections, job.hosts);
            let run = (PyBytes::new(py, text), *file, overrides, *seed);
            let arguments = (run, remote.clone(), *agents, sizes).into_pyobject(py)?.unbind();
            let launcher = self.function.clone_ref(py);
            let kernel = apart(py, move |py| Kernel::of(launcher.bind(py).call1(arguments.bind(py))?))?;
            Ok(Box::new(kernel) as Box<dyn Process>)
        })
        .map_err(told)
    }

    fn linked(&self) -> &[&'static str] {
        &self.linked
    }
}

/// The message of a Python error.
fn told(error: PyErr) -> String {
    Python::attach(|py| error.value(py).to_string())
}

impl Process for Kernel {
    fn receive(&mut self) -> Result<Option<Vec<u8>>, String> {
        let bytes = loop {
            match self.line.read(&mut self.buffer) {
                Ok(bytes) => break bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let seconds = self.limit.as_secs_f64();
                    return Err(self.failure(format!("it said nothing for {seconds:.0} s")));
                }
                // It ended before it had read all answers.
                Err(_) => break 0,
            }
        };
        Ok((bytes > 0).then(|| self.buffer[..bytes].to_vec()))
    }

    fn answer(&mut self, answer: &[u8]) {
        // The next message shows whether it is still there.
        let _ = self.line.write_all(answer);
    }

    fn measures(&mut self) -> Result<String, String> {
        self.call("measures", None).map_err(told)
    }
}

impl Kernel {
    /// The kernel that Python has started.
    fn of(handle: Bound<'_, PyAny>) -> PyResult<Self> {
        let py = handle.py();
        let number: RawFd = handle.call_method0(intern!(py, "line"))?.extract()?;
        // SAFETY: Python has given up the descriptor, and it is open.
        let line = UnixStream::from(unsafe { OwnedFd::from_raw_fd(number) });
        let limit = Duration::from_secs_f64(handle.getattr(intern!(py, "limit_s"))?.extract()?);
        line.set_read_timeout(Some(limit))?;
        Ok(Self { handle: handle.unbind(), line, limit, buffer: vec![0; MESSAGE] })
    }

    fn failure(&self, reason: String) -> String {
        self.call("failure", Some(reason)).unwrap_or_else(told)
    }

    fn call(&self, method: &'static str, argument: Option<String>) -> PyResult<String> {
        Python::attach(|py| {
            let handle = self.handle.clone_ref(py);
            apart(py, move |py| match argument {
                Some(argument) => handle.bind(py).call_method1(method, (argument,))?.extract(),
                None => handle.bind(py).call_method0(method)?.extract(),
            })
        })
    }
}

fn is_finalizing(py: Python<'_>) -> bool {
    let asked = py.import("sys").and_then(|sys| sys.call_method0("is_finalizing")?.extract());
    asked.unwrap_or(true)
}

impl Drop for Kernel {
    fn drop(&mut self) {
        let _ = Python::try_attach(|py| {
            // An interpreter that is shutting down has ended its kernels, and no other thread gets its lock.
            if is_finalizing(py) {
                return Ok(());
            }
            // The handle is dropped there as well, so Python also finalizes it in that thread.
            let handle = std::mem::replace(&mut self.handle, py.None());
            apart(py, move |py| handle.bind(py).call_method0("close").map(drop))
        });
    }
}
