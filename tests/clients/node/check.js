// SPDX-License-Identifier: Apache-2.0
// What the tests of Node's clients share: one line for each check that held; the first that does not ends the program.
'use strict';

const WAIT_MS = 60000;

function check(what, holds, detail) {
  if (holds) {
    console.log(`   ok  ${what}`);
    return;
  }
  console.log(`NOT ok  ${what}: ${JSON.stringify(detail)}`);
  process.exit(1);
}

// Checks that the condition comes true: brokers learn of a change a moment after it was answered.
async function until(what, condition) {
  const deadline = Date.now() + WAIT_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) check(what, false, `not within ${WAIT_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  check(what, true);
}

// Runs the functions one after the other, and ends.
async function main(...steps) {
  try {
    for (const step of steps) await step();
  } catch (error) {
    check('no exception', false, String(error && error.stack));
  }
  process.exit(0);
}

module.exports = { check, until, main, WAIT_MS };
