package org.opendedup.sar.container;

import java.io.IOException;
import java.util.BitSet;
import org.opendedup.sar.common.Writing;

/**
 * What the volume's metadata say of its containers: the truth that files are held against. A file of another writing was put there by
 * somebody, or comes from another time: it is not read, and nothing it says is believed.
 */
public interface ContainerClaims {
    /** Nothing is known of any container: each file is what it says it is. */
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

    /** Which writing is meant, or {@link Writing#UNKNOWN} if nothing refers to the container. */
    Writing writing(long container) throws IOException;

    /** The slots that are alive, damaged ones included. */
    BitSet slots(long container) throws IOException;
}
