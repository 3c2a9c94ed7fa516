package org.opendedup.sar.sdfs.jolokia;

import org.jolokia.core.api.LogHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What Jolokia says goes to the log: its errors are those of requests, which their senders get. */
final class AgentLog implements LogHandler {
    private static final Logger LOG = LoggerFactory.getLogger(AgentLog.class);

    @Override
    public void debug(String message) {
        LOG.debug("{}", message);
    }

    @Override
    public void info(String message) {
        LOG.debug("{}", message);
    }

    @Override
    public void error(String message, Throwable cause) {
        LOG.info("{}", message, cause);
    }

    @Override
    public boolean isDebug() {
        return false;
    }
}
