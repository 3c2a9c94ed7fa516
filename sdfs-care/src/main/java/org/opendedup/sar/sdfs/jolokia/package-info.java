/**
 * Answers requests of the Jolokia protocol about the beans of one volume: {@link org.opendedup.sar.sdfs.jolokia.Agent}.
 * Who may read and who may change is decided here, by what the beans declare. No port is opened: a request comes over
 * the control socket.
 */
@NullMarked
package org.opendedup.sar.sdfs.jolokia;

import org.jspecify.annotations.NullMarked;
