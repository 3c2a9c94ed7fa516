package org.opendedup.collections;

/** An index has no room. */
public class HashtableFullException extends Exception {
    private static final long serialVersionUID = 1;

    public HashtableFullException(String msg) {
        super(msg);
    }
}
