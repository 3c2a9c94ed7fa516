package org.opendedup.sar.sdfs.jobs;

import java.util.Locale;

/** State of a job; front ends show it in lower case. */
public enum JobState {
    RUNNING,
    DONE,
    STOPPED,
    FAILED;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
