package org.opendedup.sar.metadata.remote;

/** When a commit returns. */
public enum Promise {
    /** When the local disk has it. The store follows within seconds; what it lacks is lost with the machine. */
    LOCAL,
    /** When the store has it, too: nothing is lost with the machine. */
    REMOTE
}
