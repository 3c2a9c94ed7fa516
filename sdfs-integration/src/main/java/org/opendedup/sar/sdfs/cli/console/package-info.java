/**
 * The page of all volumes of the machine: {@link org.opendedup.sar.sdfs.cli.console.ConsoleServer} serves static files,
 * checks who asks, and passes requests of the Jolokia protocol on to the daemons over their control sockets. It knows
 * no figure of a volume.
 */
@NullMarked
package org.opendedup.sar.sdfs.cli.console;

import org.jspecify.annotations.NullMarked;
