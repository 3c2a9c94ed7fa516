package org.opendedup.sar.objects;

import java.io.IOException;
import java.net.URI;

/** Opens the stores of a scheme; found by {@link java.util.ServiceLoader}. */
public interface ObjectStoreProvider {
    /** Returns the scheme of the addresses, in lower case, such as {@code s3}. */
    String scheme();

    /**
     * Opens a store. Need not ask it anything.
     *
     * @throws IllegalArgumentException if the address has not the form of the scheme; the message says what is allowed
     */
    ObjectStore open(URI address) throws IOException;
}
