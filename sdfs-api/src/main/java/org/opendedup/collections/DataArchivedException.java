package org.opendedup.collections;

/** A chunk is in an archive, from which it must be brought back first. */
public class DataArchivedException extends Exception {
    private static final long serialVersionUID = 1;

    public DataArchivedException() {}
}
