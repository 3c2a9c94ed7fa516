package org.opendedup.sar.sort;

import java.io.IOException;

/** Called before each write of a sort. */
@FunctionalInterface
public interface SortSteps {
    /** @throws IOException to end the sort: because it was stopped, or because there is too little space */
    void step() throws IOException;
}
