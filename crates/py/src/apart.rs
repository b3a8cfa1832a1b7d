//! A separate thread for all Python code that handles kernels. A kernel ends with the thread that has started
//! it, so this thread never ends; and Python raises Ctrl-C in the main thread, so it interrupts nothing here.

use pyo3::prelude::*;
use std::process;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

type Task = Box<dyn FnOnce(Python<'_>) + Send>;

/// The id of the process that has the thread, and the channel to it: a forked process has no such thread.
static THREAD: Mutex<Option<(u32, Sender<Task>)>> = Mutex::new(None);

/// Does `work` in the thread, and waits for the result without Python's lock.
pub(crate) fn apart<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(Python<'_>) -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    let (give, take) = channel();
    let task: Task = Box::new(move |py| {
        // The caller waits for this result.
        let _ = give.send(work(py));
    });
    let done = py.detach(move || way().send(task).ok().and_then(|()| take.recv().ok()));
    done.expect("the thread lasts as long as the process")
}

fn way() -> Sender<Task> {
    let mut thread = THREAD.lock().unwrap_or_else(PoisonError::into_inner);
    match &*thread {
        Some((owner, way)) if *owner == process::id() => way.clone(),
        _ => {
            let (way, tasks) = channel::<Task>();
            thread::spawn(move || tasks.iter().for_each(|task| Python::attach(task)));
            *thread = Some((process::id(), way.clone()));
            way
        }
    }
}
