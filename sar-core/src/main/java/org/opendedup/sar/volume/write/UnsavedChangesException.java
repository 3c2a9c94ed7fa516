package org.opendedup.sar.volume.write;

import java.io.IOException;

/** Thrown when a volume was closed and some accepted changes are lost. The cause contains the reason. */
public final class UnsavedChangesException extends IOException {
    private static final long serialVersionUID = 1;

    private final transient UnsavedChanges changes;

    public UnsavedChangesException(UnsavedChanges changes) {
        super(changes.summary());
        this.changes = changes;
    }

    /** Returns the lost changes. */
    public UnsavedChanges changes() {
        return changes;
    }
}
