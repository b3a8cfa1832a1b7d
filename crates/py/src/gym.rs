//! Environments for agents in Python. Each is used by one thread at a time, and does not hold Python's lock
//! while it simulates.

use crate::launch::Launcher;
use crate::registry;
use cwndlab_cc::Spaces;
use cwndlab_lab::gym::{
    self, AlgorithmFailure, Course, End, Fleet, HashedFile, Info, Launch, Mark, Played, Player, Step,
    StepResult, World,
};
use cwndlab_lab::{Backend, weights};
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
    module.add_class::<GreedyPolicy>()
}

/// A call while another thread simulates is an error: waiting here would hold Python's lock.
fn alone<T>(mutex: &Mutex<T>) -> PyResult<MutexGuard<'_, T>> {
    mutex.try_lock().map_err(|_| PyRuntimeError::new_err("another thread is using this environment"))
}

fn value_error(why: String) -> PyErr {
    PyValueError::new_err(why)
}

/// Plays without Python's lock. A signal that came meanwhile is raised here, not later while the result is converted.
fn detached<T: Send>(py: Python<'_>, play: impl FnOnce() -> Result<T, String> + Send) -> PyResult<T> {
    let played = py.detach(play);
    py.check_signals()?;
    played.map_err(PyRuntimeError::new_err)
}

/// An environment, then a scenario (text, file, steered flows) or a number of flows on drawn links, overrides, and the
/// backend.
type Arguments = (String, Option<(Vec<u8>, String, Vec<String>)>, u64, Vec<(String, String)>, String);

/// What episodes are made from. It never changes.
#[pyclass(frozen, module = "cwndlab._native")]
struct EnvironmentCourse {
    course: Arc<Course>,
    arguments: Arguments,
    /// Hashes of the controllers' code, and of the kernel.
    controllers: Vec<HashedFile>,
}

#[pymethods]
impl EnvironmentCourse {
    /// `controllers` are those of this process, each with a hash of its code. With `linux`, episodes play in kernels:
    /// it holds the function that starts them, whether the extension is linked into them, and their name with a hash.
    #[new]
    fn new(
        arguments: Arguments,
        controllers: Vec<HashedFile>,
        linux: Option<(Py<PyAny>, bool, HashedFile)>,
    ) -> PyResult<Self> {
        let (name, scenario, flows, overrides, _) = arguments.clone();
        let backend = if linux.is_some() { Backend::Linux { agents: true } } else { Backend::Sim };
        let linked = linux.as_ref().is_some_and(|(_, linked, _)| *linked);
        let (launcher, kernel) = linux
            .map(|(function, linked, kernel)| {
                let linked = registry::linked_algorithms(linked);
                (Arc::new(Launcher { function, linked }) as Arc<dyn Launch>, kernel)
            })
            .unzip();
        let world = match scenario {
            Some((text, file, flows)) => World::Scenario { text, file, flows },
            None => World::Drawn { flows },
        };
        let environment = gym::find(&name).map_err(value_error)?;
        let known = (registry::current(), registry::queues_of(backend, linked));
        let course = Course::new(environment, world, &overrides, known, launcher).map_err(value_error)?;
        let named = |(name, _): &HashedFile| course.algorithms().contains(&name.as_str());
        let controllers = controllers.into_iter().filter(named).chain(kernel).collect();
        Ok(Self { course: Arc::new(course), arguments, controllers })
    }

    /// It never changes, so its copy is itself.
    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    /// The arguments that it was made with.
    #[getter]
    fn arguments(&self) -> Arguments {
        self.arguments.clone()
    }

    /// The files that its scenario names, its controllers and its kernel, each with its hash when this was made.
    #[getter]
    fn hashes(&self) -> Vec<HashedFile> {
        [self.course.files(), &self.controllers].concat()
    }

    /// Names of the flows that agents steer.
    #[getter]
    fn agents(&self) -> Vec<String> {
        self.course.agents().to_vec()
    }

    /// Length of the observation and number of actions.
    #[getter]
    fn spaces(&self) -> (usize, u32) {
        let Spaces { observation, actions } = self.course.spaces().unwrap_or_default();
        (observation, actions)
    }

    /// Describes an agent's inputs, as a file of weights does; `None` if their scaling keeps changing.
    #[getter]
    fn inputs(&self) -> PyResult<Option<String>> {
        self.course.inputs().map_err(value_error)
    }

    /// The link of the episode with this seed, by name: values that were drawn, or that overrides have set.
    fn link(&self, seed: u64) -> PyResult<Vec<(&'static str, f64)>> {
        self.course.scenario(seed).and_then(|scenario| self.course.link(&scenario)).map_err(value_error)
    }

    /// Measures of the episode with another algorithm in place of the agents, as JSON.
    fn with_algorithm(&self, py: Python<'_>, seed: u64, algorithm: &str) -> PyResult<String> {
        let played = py.detach(|| self.course.with_algorithm(seed, algorithm));
        py.check_signals()?;
        played.map_err(|failure| match failure {
            AlgorithmFailure::Scenario(why) => PyValueError::new_err(why),
            AlgorithmFailure::Run(why) => PyRuntimeError::new_err(why),
        })
    }
}

/// The result of a step for an agent: observation, reward, terminated, truncated, info.
type StepTuple<'py> = (Bound<'py, PyArray1<f32>>, f32, bool, bool, Bound<'py, PyDict>);

fn step_tuple<'py>(py: Python<'py>, seen: &[f32], step: &Step, info: &Info) -> PyResult<StepTuple<'py>> {
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

/// A player's position: the seed that decides its episodes, how many episode seeds it has drawn from that
/// one, the seed of the episode, and the actions and last observation in it.
type Standing = (u64, u64, u64, Option<(Vec<u8>, Vec<f32>)>);

fn standing(mark: Mark) -> Standing {
    (mark.first, mark.drawn, mark.seed, mark.played.map(|played| (played.actions, played.observation)))
}

fn mark((first, drawn, seed, played): Standing) -> Mark {
    let played = played.map(|(actions, observation)| Played { actions, observation });
    Mark { first, drawn, seed, played }
}

/// One environment, for one agent or several.
#[pyclass(frozen, module = "cwndlab._native")]
struct Episodes {
    #[pyo3(get)]
    course: Py<EnvironmentCourse>,
    player: Mutex<Player>,
}

#[pymethods]
impl Episodes {
    #[new]
    fn new(course: Py<EnvironmentCourse>) -> Self {
        let player = Mutex::new(Player::new(course.get().course.clone()));
        Self { course, player }
    }

    /// Its position.
    #[getter]
    fn standing(&self) -> PyResult<Standing> {
        Ok(standing(alone(&self.player)?.mark()))
    }

    /// Goes to another player's position in the same course, by playing its episode again.
    fn go_to(&self, py: Python<'_>, there: Standing) -> PyResult<()> {
        let mut player = alone(&self.player)?;
        let player = &mut *player;
        py.detach(|| player.go_to(&mark(there))).map(|_| ()).map_err(value_error)
    }

    /// Begins an episode.
    fn reset<'py>(&self, py: Python<'py>, seed: Option<u64>) -> PyResult<StepTuple<'py>> {
        self.play(py, |player| player.reset(seed))
    }

    /// Acts for the agent whose turn it is.
    fn step<'py>(&self, py: Python<'py>, action: u32) -> PyResult<StepTuple<'py>> {
        self.play(py, |player| player.step(action))
    }

    /// The last step of one of several agents, at the end of the episode.
    fn last<'py>(&self, py: Python<'py>, agent: usize) -> PyResult<StepTuple<'py>> {
        let mut player = alone(&self.player)?;
        let mut seen = vec![0.0; player.observation().len()];
        let end = player.episode().map(|episode| (episode.info(agent), episode.observe_as(agent, &mut seen)));
        let (info, step) =
            end.ok_or_else(|| PyRuntimeError::new_err("there is no episode yet: call reset"))?;
        step_tuple(py, &seen, &step, &info)
    }

    /// The index of the agent whose turn it is.
    #[getter]
    fn turn(&self) -> PyResult<usize> {
        Ok(alone(&self.player)?.episode().map_or(0, |episode| episode.turn()))
    }

    /// The seed of the episode.
    #[getter]
    fn seed(&self) -> PyResult<u64> {
        Ok(alone(&self.player)?.seed())
    }

    /// The link of the episode, by name: values that were drawn, or that overrides have set.
    #[getter]
    fn link(&self) -> PyResult<Vec<(&'static str, f64)>> {
        alone(&self.player)?.link().map_err(PyRuntimeError::new_err)
    }

    /// Ends the episode and returns its measures, as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let mut player = alone(&self.player)?;
        let player = &mut *player;
        detached(py, || player.finish())
    }

    /// Ends the episode, if there is one.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let mut player = alone(&self.player)?;
        let player = &mut *player;
        py.detach(|| player.close());
        Ok(())
    }
}

impl Episodes {
    fn play<'py>(
        &self,
        py: Python<'py>,
        act: impl FnOnce(&mut Player) -> Result<(Step, Info), String> + Send,
    ) -> PyResult<StepTuple<'py>> {
        let mut player = alone(&self.player)?;
        let player = &mut *player;
        let (step, info) = detached(py, || act(player))?;
        step_tuple(py, player.observation(), &step, &info)
    }
}

/// What a fleet returns: observations, rewards, terminated, truncated, info.
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
    #[pyo3(get)]
    course: Py<EnvironmentCourse>,
    #[pyo3(get)]
    threads: Option<usize>,
    fleet: Mutex<Fleet>,
    observation_len: usize,
}

#[pymethods]
impl EpisodeFleet {
    #[new]
    fn new(course: Py<EnvironmentCourse>, count: usize, threads: Option<usize>) -> Self {
        let fleet = Mutex::new(Fleet::new(&course.get().course, count, threads));
        let observation_len = course.get().spaces().0;
        Self { course, threads, fleet, observation_len }
    }

    /// The position of each environment.
    #[getter]
    fn standing(&self) -> PyResult<Vec<Standing>> {
        Ok(alone(&self.fleet)?.marks().into_iter().map(standing).collect())
    }

    /// Takes each environment to a position from another fleet of the same course, by playing its episode again.
    fn go_to(&self, py: Python<'_>, there: Vec<Standing>) -> PyResult<()> {
        let mut fleet = alone(&self.fleet)?;
        let fleet = &mut *fleet;
        let marks: Vec<Mark> = there.into_iter().map(mark).collect();
        py.detach(|| fleet.go_to(&marks)).map_err(value_error)
    }

    /// Begins an episode in each.
    fn reset<'py>(&self, py: Python<'py>, seeds: Vec<Option<u64>>) -> PyResult<Turns<'py>> {
        let mut fleet = alone(&self.fleet)?;
        let all = &mut *fleet;
        detached(py, || all.reset(&seeds))?;
        self.turns(py, &fleet)
    }

    /// Steps each with its action.
    fn step<'py>(&self, py: Python<'py>, actions: PyReadonlyArray1<'py, u32>) -> PyResult<Turns<'py>> {
        let mut fleet = alone(&self.fleet)?;
        let (all, actions) = (&mut *fleet, actions.as_slice()?.to_vec());
        detached(py, || all.step(&actions))?;
        self.turns(py, &fleet)
    }

    /// Ends the episodes.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let mut fleet = alone(&self.fleet)?;
        let all = &mut *fleet;
        py.detach(|| all.close());
        Ok(())
    }
}

impl EpisodeFleet {
    fn turns<'py>(&self, py: Python<'py>, fleet: &Fleet) -> PyResult<Turns<'py>> {
        let results: Vec<StepResult> = fleet.results().collect();
        let seen: Vec<f32> = results.iter().flat_map(|result| result.observation).copied().collect();
        let ended = |end: End| -> Bound<'py, PyArray1<bool>> {
            results.iter().map(|result| result.step.end == Some(end)).collect::<Vec<_>>().into_pyarray(py)
        };
        let info = PyDict::new(py);
        let column = |name: &str, value: fn(&Info) -> f64| {
            info.set_item(
                name,
                results.iter().map(|result| value(&result.info)).collect::<Vec<_>>().into_pyarray(py),
            )
        };
        column("time_s", |info| info.time_s)?;
        column("goodput_mbps", |info| info.goodput_mbps)?;
        column("rtt_ms", |info| info.rtt_ms)?;
        column("loss", |info| info.loss)?;
        let rewards: Vec<f64> = results.iter().map(|result| f64::from(result.step.reward)).collect();
        Ok((
            seen.into_pyarray(py).reshape([results.len(), self.observation_len])?,
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
    /// A trainer with random weights, or those of a safetensors file.
    #[new]
    fn new(py: Python<'_>, course: &EnvironmentCourse, seed: u64, given: Option<Vec<u8>>) -> PyResult<Self> {
        let player = Player::new(course.course.clone());
        py.detach(|| {
            let given = given.map(|file| weights::decode(&file)).transpose()?;
            gym::Trainer::new(player, seed, given)
        })
        .map(|trainer| Self(Mutex::new(trainer)))
        .map_err(value_error)
    }

    /// A trainer that continues from a checkpoint.
    #[staticmethod]
    fn resumed(py: Python<'_>, course: &EnvironmentCourse, seed: u64, checkpoint: &[u8]) -> PyResult<Self> {
        let player = Player::new(course.course.clone());
        py.detach(|| gym::Trainer::resumed(player, seed, gym::Checkpoint::decode(checkpoint)?))
            .map(|trainer| Self(Mutex::new(trainer)))
            .map_err(value_error)
    }

    /// Number of decisions learned from, before the checkpoint and since.
    #[getter]
    fn decisions(&self) -> PyResult<u64> {
        Ok(alone(&self.0)?.decisions())
    }

    /// Makes this many decisions; returns seed, decisions and mean reward of each episode that ended.
    fn train(&self, py: Python<'_>, decisions: u64) -> PyResult<Vec<(u64, u64, f64)>> {
        let mut trainer = alone(&self.0)?;
        let trainer = &mut *trainer;
        let ended = py.detach(|| trainer.train(decisions)).map_err(PyRuntimeError::new_err)?;
        Ok(ended.iter().map(|episode| (episode.seed, episode.decisions, episode.mean_reward)).collect())
    }

    /// The weights learned so far, as a safetensors file.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &weights::encode(&alone(&self.0)?.weights())))
    }

    /// A checkpoint that another trainer can continue from, as a safetensors file.
    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &alone(&self.0)?.checkpoint().encode()))
    }
}

/// A network that chooses actions.
#[pyclass(frozen, module = "cwndlab._native", name = "Policy")]
struct GreedyPolicy(Mutex<gym::GreedyPolicy>);

#[pymethods]
impl GreedyPolicy {
    /// The policy of the network in a safetensors file.
    #[new]
    fn new(file: &[u8]) -> PyResult<Self> {
        let weights = weights::decode(file).map_err(value_error)?;
        Ok(Self(Mutex::new(gym::GreedyPolicy::new(weights))))
    }

    /// Describes the network's inputs.
    #[getter]
    fn inputs(&self) -> PyResult<String> {
        Ok(alone(&self.0)?.weights().inputs.clone())
    }

    /// Number of actions that it can choose from.
    #[getter]
    fn actions(&self) -> PyResult<usize> {
        Ok(alone(&self.0)?.weights().network.outputs())
    }

    /// The action that it values most.
    fn __call__(&self, observation: PyReadonlyArray1<'_, f32>) -> PyResult<u32> {
        alone(&self.0)?.choose(observation.as_slice()?).map_err(value_error)
    }
}
