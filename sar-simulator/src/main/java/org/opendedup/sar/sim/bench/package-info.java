/**
 * JMH benchmarks. Each class says with which command it is run and what it last measured, on which machine. The commands
 * need the class path of the module, in a file, once:
 *
 * <pre>
 * mvn -q -pl sar-core,sar-simulator compile dependency:build-classpath -Dmdep.outputFile=target/classpath
 * </pre>
 */
@NullMarked
package org.opendedup.sar.sim.bench;

import org.jspecify.annotations.NullMarked;
