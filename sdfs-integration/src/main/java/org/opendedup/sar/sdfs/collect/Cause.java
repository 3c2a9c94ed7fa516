package org.opendedup.sar.sdfs.collect;

/** Who or what starts a collection or changes its pace; the text is for the log and for reports. */
public enum Cause {
    SDFSCLI("sdfscli"),
    JMX("JMX"),
    SCHEDULE("the schedule"),
    FULL_DISK("a full disk");

    private final String text;

    Cause(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
