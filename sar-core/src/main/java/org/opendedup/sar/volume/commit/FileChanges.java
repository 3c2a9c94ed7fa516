package org.opendedup.sar.volume.commit;

import java.io.IOException;
import java.util.concurrent.locks.Lock;

/**
 * What the files of a volume add to its commits: changed inodes, and bytes that are not in chunks yet. A volume of
 * chunks has no files: {@link #NONE}.
 */
public interface FileChanges {
    /** There are no files. */
    FileChanges NONE = new FileChanges() {
        @Override
        public void storeOld() {}

        @Override
        public boolean areMany() {
            return false;
        }

        @Override
        public Cut begin() {
            return new Cut() {
                @Override
                public void secure(Lock changes) {}

                @Override
                public boolean isSecured() {
                    return true;
                }

                @Override
                public void encode() {}

                @Override
                public void committed() {}
            };
        }
    };

    /** Stores what was changed some seconds ago, and what the next commit needs; before each periodic commit. */
    void storeOld() throws IOException;

    /** Returns whether so much is changed that a commit should be made now. */
    boolean areMany();

    /** Begins to gather what one commit makes durable. */
    Cut begin();

    /** The changes of files that one commit makes durable. For one thread. */
    interface Cut {
        /**
         * Secures the bytes that must become durable no later than their file's name. Called before the freeze without
         * a lock, several times if files get names meanwhile.
         *
         * @param changes lock that changes of metadata hold
         */
        void secure(Lock changes) throws IOException;

        /**
         * Returns whether {@link #secure} has handled all files that have a name now. Called with all changes excluded.
         */
        boolean isSecured();

        /** Makes the changed inodes a part of the metadata. Called with all changes excluded. */
        void encode() throws IOException;

        /** Notes that what was encoded is durable. */
        void committed();
    }
}
