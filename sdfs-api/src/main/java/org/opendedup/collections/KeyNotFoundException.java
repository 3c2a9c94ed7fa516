package org.opendedup.collections;

/** An index does not have a fingerprint. */
public class KeyNotFoundException extends Exception {
    private static final long serialVersionUID = 1;

    public KeyNotFoundException() {}
}
