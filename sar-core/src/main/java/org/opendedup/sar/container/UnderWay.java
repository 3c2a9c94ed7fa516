package org.opendedup.sar.container;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A container that is loaded to be written anew, and whose next generation is being made. */
record UnderWay(
        long container, GenerationCopier scratch, Future<NextGeneration> copying, boolean ifSmaller, boolean keepsOld) {
    private static final Logger log = LoggerFactory.getLogger(UnderWay.class);

    NextGeneration await() throws IOException {
        try {
            return Objects.requireNonNull(Uninterruptibles.getUninterruptibly(copying));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException damage) {
                throw damage;
            }
            throw new IOException("container " + container + " could not be copied", e.getCause());
        }
    }

    /** Waits until the memory is not used any more. */
    void awaitEnd() {
        try {
            await();
        } catch (IOException e) {
            log.debug("a copy that is not needed failed", e);
        }
    }
}
