package org.opendedup.sar.check;

/** Receives the progress of a check. */
@FunctionalInterface
public interface CheckProgress {
    /**
     * @param step what is being done, as a noun for people
     * @param done units of the step that are done
     * @param of all units of the step; 0 if unknown
     */
    void at(String step, long done, long of);
}
