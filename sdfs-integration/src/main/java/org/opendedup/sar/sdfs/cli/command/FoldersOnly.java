package org.opendedup.sar.sdfs.cli.command;

import org.opendedup.sar.sdfs.config.VolumeDefinition;

/** The one check of commands that work on the folders of an unmounted volume, and do not know an object store. */
public final class FoldersOnly {
    private FoldersOnly() {}

    /**
     * @param wayOut what the user can do, as a sentence
     * @throws CommandFailedException if the volume lies in an object store: its folders need not have all of it
     */
    public static void require(VolumeDefinition definition, String wayOut) throws CommandFailedException {
        if (definition.store() != null) {
            throw new CommandFailedException("the volume '"
                    + definition.config().name() + "' lies in "
                    + definition.store().store() + ", and this command works on volumes in folders only. " + wayOut);
        }
    }
}
