// SPDX-License-Identifier: MIT OR Apache-2.0
/* The side of the host's C library: the kernel's only source of chance, and its end. */
#include <stdint.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

/* SplitMix64 (Steele, Lea and Flood 2014), seeded by the front end. */
static uint64_t next(void)
{
	static uint64_t state;
	static int seeded;
	uint64_t z;

	if (!seeded) {
		const char *seed = getenv("CWNDLAB_SEED");

		state = seed ? strtoull(seed, NULL, 10) : 0;
		seeded = 1;
	}
	z = (state += 0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

void cwndlab_end_with_parent(void);
ssize_t cwndlab_random(void *buffer, size_t bytes);

/* A front end that is killed leaves no kernel behind, not even if that happened before this. */
void cwndlab_end_with_parent(void)
{
	const char *parent = getenv("CWNDLAB_PARENT");

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (parent && atol(parent) != getppid())
		_exit(1);
}

ssize_t cwndlab_random(void *buffer, size_t bytes)
{
	size_t at;

	for (at = 0; at < bytes; at += 8) {
		uint64_t drawn = next();

		memcpy((char *)buffer + at, &drawn, bytes - at < 8 ? bytes - at : 8);
	}
	return bytes;
}
