package org.opendedup.sar.sdfs.fuse;

/**
 * The kinds of requests that a mount lets the kernel send. Each kind that is off costs a feature and saves requests.
 *
 * @param flushes whether each close(2) of a file asks for the failures of accepted writes
 * @param accessLists whether access lists are read, set and checked
 * @param extendedAttributes whether extended attributes can be read, set and listed; access lists are some of them
 */
public record KernelRequests(boolean flushes, boolean accessLists, boolean extendedAttributes) {
    public static final KernelRequests ALL = new KernelRequests(true, true, true);

    /** Returns whether the kernel checks access lists: it reads them as extended attributes. */
    public boolean enforceAccessLists() {
        return accessLists && extendedAttributes;
    }
}
