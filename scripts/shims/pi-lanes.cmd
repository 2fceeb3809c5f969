@echo off
set "LANES_NODE=node"
if not "%PI_LANES_EDITOR_NODE%"=="" set "LANES_NODE=%PI_LANES_EDITOR_NODE%"
if not "%PI_LANES_NODE%"=="" set "LANES_NODE=%PI_LANES_NODE%"
"%LANES_NODE%" "%~dp0..\cli.mjs" %*
