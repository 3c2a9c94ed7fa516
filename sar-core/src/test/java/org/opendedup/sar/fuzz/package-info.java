/**
 * Fuzzing of parsers: any bytes give a value or the declared error. {@link org.opendedup.sar.fuzz.ParserSet} is what a
 * target runs, {@link org.opendedup.sar.fuzz.FuzzInputs} its inputs. The targets are the classes {@code …Fuzz} in the
 * packages of the parsers; {@code scripts/fuzz} runs them with Jazzer.
 */
package org.opendedup.sar.fuzz;
