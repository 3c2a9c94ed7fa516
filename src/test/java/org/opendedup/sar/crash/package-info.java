/**
 * The crash test: the ops of the model test on a volume whose stores lose power at a random moment.
 * {@link org.opendedup.sar.crash.CrashHistory} contains every state that a crash may show,
 * {@link org.opendedup.sar.crash.CrashTrial} runs the ops, cuts the power and checks the state found.
 */
package org.opendedup.sar.crash;
