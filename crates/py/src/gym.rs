//! Environments for agents in Python. Each is used by one thread at a time, and holds no lock of Python's while it
//! simulates.

use crate::registry;
use cwndlab_lab::gym::{self, Course, End, Fleet, Info, Player, Step, Told, World};
use cwndlab_lab::measures::{OverTime, outcome_json};
use cwndlab_lab::run::{Control, run_seed};
use cwndlab_lab::{Scenario, weights};
use cwndlab_sim::Outcome;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Arc, Mutex, MutexGuard};

/// Adds the classes.
pub(crate) fn add_classes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<EnvironmentCourse>()?;
    module.add_class::<Episodes>()?;
    module.add_class::<EpisodeFleet>()?;
    module.add_class::<Trainer>()?;
    module.add_class::<Policy>()
}

/// Whoever comes while another thread simulates is told so: to wait here would hold Python's lock.
fn alone<T>(mutex: &Mutex<T>) -> PyResult<MutexGuard<'_, T>> {
    mutex.try_lock().map_err(|_| PyRuntimeError::new_err("another thread is using this environment"))
}

fn value_error(why: String) -> PyErr {
    PyValueError::new_err(why)
}

/// What episodes are made from.
#[pyclass(frozen, module = "cwndlab._native")]
struct EnvironmentCourse(Arc<Course>);

#[pymethods]
impl EnvironmentCourse {
    /// Of an environment, in a scenario (text, file, flows that are steered) or with so many flows on drawn links.
    #[new]
    fn new(
        name: &str,
        scenario: Option<(Vec<u8>, String, Vec<String>)>,
        flows: u64,
        overrides: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let world = match scenario {
            Some((text, file, flows)) => World::Scenario { text, file, flows },
            None => World::Drawn { flows },
        };
        let environment = gym::find(name).map_err(value_error)?;
        let course = Course::new(environment, world, &overrides, registry::current()).map_err(value_error)?;
        Ok(Self(Arc::new(course)))
    }

    /// Names of the flows that agents steer.
    #[getter]
    fn agents(&self) -> Vec<String> {
        self.0.agents().to_vec()
    }

    /// Length of the observation and number of actions.
    #[getter]
    fn spaces(&self) -> (usize, u32) {
        self.0.spaces().unwrap_or_default()
    }

    /// What an agent sees, as a file of weights has it; `None` where it changes all the time.
    #[getter]
    fn inputs(&self) -> PyResult<Option<String>> {
        self.0.inputs().map_err(value_error)
    }

    /// What the episode with this seed has drawn, by name.
    fn drawn(&self, seed: u64) -> Vec<(&'static str, f64)> {
        self.0.drawn(seed)
    }

    /// Measures of the episode with another algorithm in the place of the agents, as JSON.
    fn with_algorithm(&self, py: Python<'_>, seed: u64, algorithm: &str) -> PyResult<String> {
        py.detach(|| {
            let scenario = self.0.with_algorithm(seed, algorithm).map_err(value_error)?;
            let outcome = run_seed(&scenario, seed, false, &Control::default())
                .map_err(|failure| PyRuntimeError::new_err(failure.to_string()))?;
            Ok(measures(&scenario, &outcome))
        })
    }
}

fn measures(scenario: &Scenario, outcome: &Outcome) -> String {
    outcome_json(outcome, &OverTime::of(scenario, outcome)).to_string()
}

/// What an agent sees and is told: observation, reward, terminated, truncated, info.
type Turn<'py> = (Bound<'py, PyArray1<f32>>, f32, bool, bool, Bound<'py, PyDict>);

fn turn<'py>(py: Python<'py>, seen: &[f32], step: &Step, info: &Info) -> PyResult<Turn<'py>> {
    let seen = PyArray1::from_slice(py, seen);
    let terminated = step.end == Some(End::Terminated);
    let truncated = step.end == Some(End::Truncated);
    Ok((seen, step.reward, terminated, truncated, info_dict(py, info)?))
}

fn info_dict<'py>(py: Python<'py>, info: &Info) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item(intern!(py, "time_s"), info.time_s)?;
    dict.set_item(intern!(py, "goodput_mbps"), info.goodput_mbps)?;
    dict.set_item(intern!(py, "rtt_ms"), info.rtt_ms)?;
    dict.set_item(intern!(py, "loss"), info.loss)?;
    Ok(dict)
}

/// One environment, for one agent or several.
#[pyclass(frozen, module = "cwndlab._native")]
struct Episodes(Mutex<Player>);

#[pymethods]
impl Episodes {
    #[new]
    fn new(course: &EnvironmentCourse) -> Self {
        let observation = course.spaces().0;
        Self(Mutex::new(Player::new(course.0.clone(), observation)))
    }

    /// Begins an episode.
    fn reset<'py>(&self, py: Python<'py>, seed: Option<u64>) -> PyResult<Turn<'py>> {
        let mut player = alone(&self.0)?;
        let player = &mut *player;
        let (step, info) = py
            .detach(|| {
                let step = player.reset(seed)?;
                Ok((step, player.info(step.agent)))
            })
            .map_err(PyRuntimeError::new_err::<String>)?;
        turn(py, player.observation(), &step, &info)
    }

    /// Acts for the agent whose turn it is.
    fn step<'py>(&self, py: Python<'py>, action: u32) -> PyResult<Turn<'py>> {
        let mut player = alone(&self.0)?;
        let player = &mut *player;
        let (step, info) = py
            .detach(|| {
                let step = player.step(action)?;
                Ok((step, player.info(step.agent)))
            })
            .map_err(PyRuntimeError::new_err::<String>)?;
        turn(py, player.observation(), &step, &info)
    }

    /// What one of several agents sees at the end of the episode.
    fn last<'py>(&self, py: Python<'py>, agent: usize) -> PyResult<Turn<'py>> {
        let mut player = alone(&self.0)?;
        let mut seen = vec![0.0; player.observation().len()];
        let info = player.info(agent);
        let step = player.episode().map(|episode| episode.observe_as(agent, &mut seen));
        let step = step.ok_or_else(|| PyRuntimeError::new_err("there is no episode yet: call reset"))?;
        turn(py, &seen, &step, &info)
    }

    /// Whose turn it is, by the place among the agents.
    #[getter]
    fn turn(&self) -> PyResult<usize> {
        Ok(alone(&self.0)?.episode().map_or(0, |episode| episode.turn()))
    }

    /// The seed of the episode.
    #[getter]
    fn seed(&self) -> PyResult<u64> {
        Ok(alone(&self.0)?.seed())
    }

    /// Ends the episode and gives its measures, as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let mut player = alone(&self.0)?;
        let player = &mut *player;
        py.detach(|| {
            let outcome = player.take().and_then(gym::Episode::outcome);
            let outcome = outcome.ok_or("there is no episode yet: call reset")?;
            let scenario = player.course().scenario(player.seed())?;
            Ok(measures(&scenario, &outcome))
        })
        .map_err(PyRuntimeError::new_err::<String>)
    }
}

/// What a fleet tells: observations, rewards, terminated, truncated, info.
type Turns<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyDict>,
);

/// Many environments that step together.
#[pyclass(frozen, module = "cwndlab._native")]
struct EpisodeFleet {
    fleet: Mutex<Fleet>,
    observation_len: usize,
}

#[pymethods]
impl EpisodeFleet {
    #[new]
    fn new(course: &EnvironmentCourse, count: usize, threads: Option<usize>) -> Self {
        let observation_len = course.spaces().0;
        Self { fleet: Mutex::new(Fleet::new(&course.0, observation_len, count, threads)), observation_len }
    }

    /// Begins an episode in each.
    fn reset<'py>(&self, py: Python<'py>, seeds: Vec<Option<u64>>) -> PyResult<Turns<'py>> {
        let mut fleet = alone(&self.fleet)?;
        let all = &mut *fleet;
        py.detach(|| all.reset(&seeds)).map_err(PyRuntimeError::new_err)?;
        self.turns(py, &fleet)
    }

    /// Steps each with its action.
    fn step<'py>(&self, py: Python<'py>, actions: PyReadonlyArray1<'py, u32>) -> PyResult<Turns<'py>> {
        let mut fleet = alone(&self.fleet)?;
        let (all, actions) = (&mut *fleet, actions.as_slice()?.to_vec());
        py.detach(|| all.step(&actions)).map_err(PyRuntimeError::new_err)?;
        self.turns(py, &fleet)
    }
}

impl EpisodeFleet {
    fn turns<'py>(&self, py: Python<'py>, fleet: &Fleet) -> PyResult<Turns<'py>> {
        let told: Vec<Told> = fleet.told().collect();
        let seen: Vec<f32> = told.iter().flat_map(|told| told.observation).copied().collect();
        let ended = |end: End| -> Bound<'py, PyArray1<bool>> {
            told.iter().map(|told| told.step.end == Some(end)).collect::<Vec<_>>().into_pyarray(py)
        };
        let info = PyDict::new(py);
        let column = |name: &str, value: fn(&Info) -> f64| {
            info.set_item(
                name,
                told.iter().map(|told| value(&told.info)).collect::<Vec<_>>().into_pyarray(py),
            )
        };
        column("time_s", |info| info.time_s)?;
        column("goodput_mbps", |info| info.goodput_mbps)?;
        column("rtt_ms", |info| info.rtt_ms)?;
        column("loss", |info| info.loss)?;
        let rewards: Vec<f64> = told.iter().map(|told| f64::from(told.step.reward)).collect();
        Ok((
            seen.into_pyarray(py).reshape([told.len(), self.observation_len])?,
            rewards.into_pyarray(py),
            ended(End::Terminated),
            ended(End::Truncated),
            info,
        ))
    }
}

/// A DQN that learns in an environment.
#[pyclass(frozen, module = "cwndlab._native")]
struct Trainer(Mutex<gym::Trainer>);

#[pymethods]
impl Trainer {
    /// With random weights, or those of a safetensors file.
    #[new]
    fn new(py: Python<'_>, course: &EnvironmentCourse, seed: u64, given: Option<Vec<u8>>) -> PyResult<Self> {
        let player = Player::new(course.0.clone(), course.spaces().0);
        py.detach(|| {
            let given = given.map(|file| weights::decode(&file)).transpose()?;
            gym::Trainer::new(player, seed, given)
        })
        .map(|trainer| Self(Mutex::new(trainer)))
        .map_err(value_error)
    }

    /// That goes on from a checkpoint.
    #[staticmethod]
    fn resumed(py: Python<'_>, course: &EnvironmentCourse, seed: u64, checkpoint: &[u8]) -> PyResult<Self> {
        let player = Player::new(course.0.clone(), course.spaces().0);
        py.detach(|| gym::Trainer::resumed(player, seed, gym::Checkpoint::decode(checkpoint)?))
            .map(|trainer| Self(Mutex::new(trainer)))
            .map_err(value_error)
    }

    /// Decisions that were learned from, before the checkpoint and since.
    #[getter]
    fn decisions(&self) -> PyResult<u64> {
        Ok(alone(&self.0)?.decisions())
    }

    /// Makes so many decisions; seed, decisions and mean reward of each episode that ended.
    fn train(&self, py: Python<'_>, decisions: u64) -> PyResult<Vec<(u64, u64, f64)>> {
        let mut trainer = alone(&self.0)?;
        let trainer = &mut *trainer;
        let ended = py.detach(|| trainer.train(decisions)).map_err(PyRuntimeError::new_err)?;
        Ok(ended.iter().map(|episode| (episode.seed, episode.decisions, episode.mean_reward)).collect())
    }

    /// What was learned so far, as a safetensors file.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &weights::encode(&alone(&self.0)?.weights())))
    }

    /// What another trainer can go on from, as a safetensors file.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &alone(&self.0)?.checkpoint().encode()))
    }
}

/// A network that plays.
#[pyclass(frozen, module = "cwndlab._native")]
struct Policy(Mutex<gym::Policy>);

#[pymethods]
impl Policy {
    /// Of a safetensors file.
    #[new]
    fn new(file: &[u8]) -> PyResult<Self> {
        let weights = weights::decode(file).map_err(value_error)?;
        Ok(Self(Mutex::new(gym::Policy::new(weights))))
    }

    /// What the network takes in.
    #[getter]
    fn inputs(&self) -> PyResult<String> {
        Ok(alone(&self.0)?.weights().inputs.clone())
    }

    /// The action that it values most.
    fn __call__(&self, observation: PyReadonlyArray1<'_, f32>) -> PyResult<u32> {
        alone(&self.0)?.choose(observation.as_slice()?).map_err(value_error)
    }
}
