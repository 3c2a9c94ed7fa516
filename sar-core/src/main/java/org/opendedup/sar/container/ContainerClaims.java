package org.opendedup.sar.container;

import java.io.IOException;
import java.util.BitSet;
import org.opendedup.sar.common.Writing;

/**
 * What the volume's metadata say about its containers: the reference that files are checked against. A file of another
 * writing was copied there from elsewhere or dates from another time: it is not read, and nothing in it is trusted.
 */
public interface ContainerClaims {
    /** Knows nothing about any container: each file is accepted as what it says it is. */
    ContainerClaims NONE = new ContainerClaims() {
        @Override
        public Writing writing(long container) {
            return Writing.UNKNOWN;
        }

        @Override
        public BitSet slots(long container) {
            return new BitSet();
        }
    };

    /** Returns the writing that the volume refers to, or {@link Writing#UNKNOWN} if nothing refers to the container. */
    Writing writing(long container) throws IOException;

    /** Returns the live slots, damaged ones included. */
    BitSet slots(long container) throws IOException;
}
